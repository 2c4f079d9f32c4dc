import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { eventually } from "../helpers/eventually.js";
import { type Field, valuesOf } from "../helpers/http-bytes.js";
import { answer, chunkedAnswer, MASKED, request } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { openClient, type RawClient } from "../helpers/raw-client.js";
import { spillFiles } from "../helpers/spilled.js";
import { type Script, startUpstream, type Upstream } from "../helpers/upstream.js";

const MEMORY = 100_000;

const CONFIG = `
holdMemoryBytes: ${MEMORY}
routes:
  - {name: look, match: {pathPrefix: /look}, mode: observe}
  - {name: drop, match: {pathPrefix: /null}, mode: strict, translation: null}
  - {name: mirror, match: {pathPrefix: /mirror}, mode: strict, translation: mirror}
  - {name: strict, mode: strict}
`;

const MASK = '"mask_sample":true,"failure_kind":"k","failure_reason":"gone"';

/** A text that stays larger than the memory even in gzip. */
const noise = (size: number): string => randomBytes((size * 3) / 4).toString("base64");

const scored = (): string => `{"reward":1.0,"response":"${noise(400_000)}","mask_sample":false}`;
const atTail = (): string => `{"reward":0.5,"response":"${noise(400_000)}",${MASK}}`;
const atHead = (): string => `{${MASK},"reward":0.5,"response":"${noise(400_000)}"}`;

const digest = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

interface Stage {
  readonly upstream: Upstream;
  readonly proxy: Proxy;
  /** A client that has asked by this path for the answer of this number, or for a masked one of `size` bytes at once. */
  ask(this: void, path: string, n: number | `size ${number}`): Promise<RawClient>;
  /** Sends what was held back of every answer. */
  finish(this: void): void;
  /** All memory is free again, because a route that only observes looks at what memory has room for, and no file is left. */
  expectReleased(this: void): Promise<void>;
}

/** A proxy with little memory in front of an upstream that keeps the last bytes of each answer until it is told to finish. */
async function stage(answers: readonly Buffer[]): Promise<Stage> {
  const waiting: (() => void)[] = [];
  let isFinished = false;
  const script: Script = async ({ whole, write }) => {
    const { body } = await whole;
    const asked = body.toString();
    if (asked.startsWith("size ")) {
      write(answer(MASKED.padEnd(Number(asked.slice(5)))));
      return;
    }
    const bytes = answers[Number(asked)]!;
    write(bytes.subarray(0, -9));
    const last = (): void => write(bytes.subarray(-9));
    if (isFinished) last();
    else waiting.push(last);
  };
  const upstream = await startUpstream(script);
  const proxy = await startConfigured(upstream, CONFIG);
  const ask: Stage["ask"] = async (path, n) => {
    const client = await openClient(proxy.url);
    client.write(request("POST", path, { body: String(n) }));
    return client;
  };
  const look = async (size: number): Promise<void> => {
    await (await ask("/look/verify", `size ${size}`)).reply("POST");
  };
  return {
    upstream,
    proxy,
    ask,
    finish: () => {
      // A file that an earlier test has just let go of may be taken for one of these answers', which then come only now.
      isFinished = true;
      for (const go of waiting.splice(0)) go();
    },
    expectReleased: async () => {
      await eventually(() => expect(spillFiles()).toEqual([]));
      const [seen, unread] = [proxy.logged("let_through"), proxy.logged("uninspectable")];
      await look(MEMORY);
      await proxy.nextLog("let_through", seen.length + 1);
      await look(MEMORY + 1);
      const line = await proxy.nextLog("uninspectable", unread.length + 1);
      expect(line).toMatchObject({ code: "HOLD_FAILED", route: "look" });
      await eventually(() => expect(spillFiles()).toEqual([]));
    },
  };
}

/** As many files as this are in use: each without a name, and closed to other users. */
async function spilled(count: number): Promise<void> {
  const expected = Array.from({ length: count }, () => "nameless 600");
  await eventually(() => expect(spillFiles()).toEqual(expected));
}

describe.runIf(existsSync("/proc/self/fd"))("answers that memory has no room for", () => {
  it("are all judged and come out whole, many at once, and leave nothing behind", async () => {
    const bodies = Array.from({ length: 24 }, (_, n) => [scored, atTail, atHead][n % 3]!());
    const { ask, finish, expectReleased } = await stage(
      bodies.map((body, n) => (n % 2 === 0 ? answer(body) : chunkedAnswer([body]))),
    );
    const clients = await Promise.all(bodies.map(async (_, n) => ask("/verify", n)));
    await spilled(bodies.length);
    expect(clients.map(({ incoming }) => incoming.length)).toEqual(bodies.map(() => 0));
    finish();
    const replies = await Promise.all(clients.map(async (client) => client.reply("POST")));
    for (const [n, reply] of replies.entries()) {
      expect(reply.line).toBe(n % 3 === 0 ? "HTTP/1.1 200 OK" : "HTTP/1.1 503 Masked: k: gone");
      if (n % 3 === 0) expect(digest(reply.body)).toBe(digest(bodies[n]!));
    }
    await expectReleased();
  });

  it.each([
    ["/null/verify", atHead, '"reward":0.5', '"reward":null'],
    ["/null/verify", atTail, '"reward":0.5', '"reward":null'],
    ["/mirror/verify", atHead, /\}$/, ',"instance_config":{"mask_sample":true}}'],
    ["/mirror/verify", atTail, /\}$/, ',"instance_config":{"mask_sample":true}}'],
  ])("are translated on %s (%o)", async (path, bodyOf, from, to) => {
    const bodies = [bodyOf(), bodyOf(), bodyOf()];
    const gzip: Field[] = [["Content-Encoding", "gzip"]];
    const { ask, finish, expectReleased } = await stage([
      answer(bodies[0]),
      chunkedAnswer([bodies[1]!]),
      answer(gzipSync(bodies[2]!), { headers: gzip }),
    ]);
    const clients = await Promise.all(bodies.map(async (_, n) => ask(path, n)));
    await spilled(3);
    finish();
    const replies = await Promise.all(clients.map(async (client) => client.reply("POST")));
    for (const [n, reply] of replies.entries()) {
      expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["masked"]);
      expect(valuesOf(reply.fields, "content-encoding")).toEqual([]);
      expect(digest(reply.body)).toBe(digest(bodies[n]!.replace(from, to)));
    }
    await expectReleased();
  });

  it("are judged in gzip too, and an unmasked one keeps its bytes", async () => {
    const bodies = [scored(), atTail(), atHead()].map((body) => gzipSync(body));
    const { ask, finish, expectReleased } = await stage(
      bodies.map((body) => answer(body, { headers: [["Content-Encoding", "gzip"]] })),
    );
    const clients = await Promise.all(bodies.map(async (_, n) => ask("/verify", n)));
    await spilled(3);
    finish();
    const replies = await Promise.all(clients.map(async (client) => client.reply("POST")));
    expect(replies.map(({ status }) => status)).toEqual([200, 503, 503]);
    expect(digest(replies[0]!.body)).toBe(digest(bodies[0]!));
    await expectReleased();
  });

  it("are let go of when their clients leave while they come in", async () => {
    const { upstream, ask, expectReleased } = await stage([answer(atTail())]);
    const clients = await Promise.all(Array.from({ length: 12 }, async () => ask("/verify", 0)));
    await spilled(clients.length);
    for (const [n, client] of clients.entries()) {
      if (n % 2 === 0) client.destroy();
      else client.reset();
    }
    await upstream.quiet();
    await expectReleased();
  });

  it("are let go of when their clients leave while they go out", async () => {
    const large = `{"response":"${"x".repeat(30_000_000)}"}`;
    const { proxy, ask, finish, expectReleased } = await stage([answer(large)]);
    const client = await ask("/verify", 0);
    await spilled(1);
    client.stall();
    finish();
    await client.sees("HTTP/1.1 200 OK");
    client.reset();
    await proxy.nextLog("client_gone");
    await expectReleased();
  });

  it("are let go of when the upstream breaks off", async () => {
    const { upstream, ask, expectReleased } = await stage([answer(atTail())]);
    const client = await ask("/verify", 0);
    await spilled(1);
    (await upstream.arrived()).reset();
    expect((await client.reply("POST")).status).toBe(502);
    await expectReleased();
  });

  it("are 502 where the temporary folder takes no file, and the proxy lives on", async () => {
    vi.stubEnv("TMPDIR", "/nonexistent/folder");
    const { proxy, ask, expectReleased } = await stage([answer(scored())]);
    try {
      const reply = await (await ask("/verify", 0)).reply("POST");
      expect(reply.status).toBe(502);
      expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
      expect(await proxy.nextLog("uninspectable")).toMatchObject({
        code: "HOLD_FAILED",
        level: 40,
      });
      expect((await (await ask("/verify", "size 500")).reply("POST")).status).toBe(503);
      await expectReleased();
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("are 502 once, on a connection that goes on, where the end came with the bytes that no file took", async () => {
    vi.stubEnv("TMPDIR", "/nonexistent/folder");
    try {
      const upstream = await startUpstream(answer(MASKED.padEnd(30_000)));
      const proxy = await startConfigured(upstream, CONFIG.replace(String(MEMORY), "1"));
      const client = await openClient(proxy.url);
      for (const n of [1, 2, 3]) {
        client.write(request("POST", "/verify", { body: "{}" }));
        expect((await client.reply("POST")).status).toBe(502);
        await proxy.nextLog("request", n);
      }
      expect(proxy.logged("uninspectable")).toHaveLength(3);
      expect(proxy.logged("upstream_error")).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
