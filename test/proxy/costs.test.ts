import { existsSync } from "node:fs";
import { request } from "undici";
import { afterEach, describe, expect, it, vi } from "vitest";
import { planSplice } from "../../src/mask/splice.js";
import { AnswerScan } from "../../src/mask/verdict.js";
import { ObjectWalk } from "../../src/mask/walk.js";
import { drive } from "../../src/proxy/drive.js";
import { Hold, HoldBudget } from "../../src/proxy/hold.js";
import { SpillFile } from "../../src/proxy/spill.js";
import { startCli } from "../helpers/cli.js";
import { eventually } from "../helpers/eventually.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { spillFiles } from "../helpers/spilled.js";

/*
 * What one answer costs, counted rather than timed. A number here that has to be raised is a slower proxy.
 */

const CHUNK = 64 * 1024;
const COUNT = 128;
const SIZE = CHUNK * COUNT;

const TAIL = '"reward":0.0,"mask_sample":true,"failure_kind":"k","failure_reason":"gone"}';
const SCORED_TAIL = '"reward":1.0,"mask_sample":false,"failure_kind":null,"failure_reason":null}';

/** Text, then a member of each sort, then the verdict, as nemo-gym writes them. */
function answerOf(tail: string): Buffer[] {
  const head = '{"response":{"output":[{"text":"';
  const rest = `"}],"ids":[1,2,3]},"a":1,"b":null,"c":{},${tail}`;
  const text = "x\\n".repeat(SIZE).slice(0, SIZE - head.length - rest.length - 1);
  const bytes = Buffer.from(`${head}${text.replace(/\\$/, "y")}z${rest}`);
  expect(bytes.length).toBe(SIZE);
  return Array.from({ length: COUNT }, (_, n) => bytes.subarray(n * CHUNK, (n + 1) * CHUNK));
}

/** A scan and a hold that have taken these chunks. */
async function take(chunks: readonly Buffer[], budget: HoldBudget) {
  const scan = new AnswerScan();
  const hold = new Hold(budget, SIZE, (chunk) => scan.push(chunk));
  for (const chunk of chunks) {
    await hold.push(chunk);
  }
  await hold.end();
  return { hold, scan };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an answer that memory has room for", () => {
  it("is held by reference: nothing of it is joined, and a few bytes a chunk are copied", async () => {
    const chunks = answerOf(TAIL);
    const concat = vi.spyOn(Buffer, "concat");
    const copy = vi.spyOn(Buffer.prototype, "copy");
    const budget = new HoldBudget(SIZE);
    const { hold, scan } = await take(chunks, budget);
    expect(await drive(scan.judge(), hold)).toMatchObject({ verdict: "masked", reason: "gone" });
    const copied = copy.mock.results.reduce((sum, { value }) => sum + Number(value), 0);
    expect(concat).not.toHaveBeenCalled();
    expect(copied).toBeLessThanOrEqual(COUNT * 20);
    for (const [n, chunk] of chunks.entries()) expect(hold.chunk(n)).toBe(chunk);
    expect(budget.used).toBe(SIZE);
    hold.release();
    expect(budget.used).toBe(0);
  });

  it.each([
    ["masked", TAIL, 1, 4],
    ["scored", SCORED_TAIL, 1, 3],
  ])(
    "is judged from its last chunk where the verdict stands there (%s)",
    async (verdict, tail, most, members) => {
      const { hold, scan } = await take(answerOf(tail), new HoldBudget(SIZE));
      const asked = vi.spyOn(hold, "chunk");
      const walk = vi.spyOn(ObjectWalk.prototype, "next");
      expect(await drive(scan.judge(), hold)).toMatchObject({ verdict });
      const visited = walk.mock.results.filter(({ value }) => value !== undefined);
      expect(asked.mock.calls.length).toBeLessThanOrEqual(most);
      expect(visited.length).toBeLessThanOrEqual(members);
    },
  );

  it("is mirrored without a copy of its instance_config", async () => {
    const chunks = answerOf(TAIL);
    const head = Buffer.from('{"instance_config":{"a":"');
    const tail = Buffer.from(`"},${TAIL}`);
    chunks[0] = Buffer.concat([head, Buffer.alloc(CHUNK - head.length, "x")]);
    for (let n = 1; n < COUNT; n++) chunks[n] = Buffer.alloc(CHUNK, "x");
    tail.copy(chunks[COUNT - 1]!, CHUNK - tail.length);
    const { hold, scan } = await take(chunks, new HoldBudget(SIZE));
    const copy = vi.spyOn(Buffer.prototype, "copy");
    const { start, insert } = await drive(planSplice(scan, "mirror"), hold);
    expect([start, insert.toString()]).toEqual([19 + 1, '"mask_sample":true,']);
    const copied = copy.mock.results.reduce((sum, { value }) => sum + Number(value), 0);
    expect(copied).toBeLessThan(1000);
  });

  it("is read once, each chunk in turn, where the verdict may stand anywhere", async () => {
    const chunks = answerOf(SCORED_TAIL);
    const head = Buffer.from('{"mask_sample":false,');
    chunks[0] = Buffer.concat([head, chunks[0]!.subarray(1, CHUNK - head.length + 1)]);
    const { hold, scan } = await take(chunks, new HoldBudget(SIZE));
    const asked = vi.spyOn(hold, "chunk");
    expect(await drive(scan.judge(), hold)).toEqual({ verdict: "scored" });
    expect(asked.mock.calls.length).toBeLessThanOrEqual(COUNT);
  });
});

describe.runIf(existsSync("/proc/self/fd"))("an answer that memory has no room for", () => {
  it("takes one file, whose last part alone is read for the verdict, and gives it back", async () => {
    const chunks = answerOf(TAIL);
    const budget = new HoldBudget(CHUNK * 4);
    const read = vi.spyOn(SpillFile.prototype, "read");
    const { hold, scan } = await take(chunks, budget);
    expect(budget.used).toBe(CHUNK * 4);
    expect(budget.spilled).toBe(SIZE - CHUNK * 4);
    expect(spillFiles()).toHaveLength(1);
    expect(await drive(scan.judge(), hold)).toMatchObject({ verdict: "masked" });
    expect(read).toHaveBeenCalledTimes(1);
    for (let n = 0; n < COUNT; n++) {
      expect(chunks[n]!.equals(await hold.chunk(n))).toBe(true);
    }
    expect(read).toHaveBeenCalledTimes(1 + COUNT - 4);
    hold.release();
    expect(budget.used).toBe(0);
    await eventually(() => expect(spillFiles()).toEqual([]));
  });
});

// Node 24 counts buffers another way: it collects fully for each 64 MB of them, whatever is set.
describe.runIf(Number.parseInt(process.versions.v8, 10) < 13)(
  "a program that passes 1 GiB on",
  () => {
    it("collects all of its heap a few times, not for every other answer", async () => {
      const body = Buffer.alloc(16 * 1024 * 1024, "x");
      const upstream = await startHttpUpstream((_request, reply) => reply.end(body));
      const running = startCli(["serve", upstream.url, "--port", "0"], {
        nodeArgs: ["--trace-gc"],
      });
      const { url } = await running.event("listening");
      const ask = async (): Promise<void> => {
        for (let n = 0; n < 2; n++) {
          const answer = await request(String(url));
          let size = 0;
          for await (const chunk of answer.body) size += (chunk as Buffer).length;
          expect(size).toBe(body.length);
        }
      };
      await Promise.all(Array.from({ length: 32 }, ask));
      running.child.kill("SIGTERM");
      const { stdout } = await running.finished;
      expect(stdout).toContain("Scavenge");
      expect(stdout.split("Mark-Compact").length - 1).toBeLessThanOrEqual(10);
    });
  },
);
