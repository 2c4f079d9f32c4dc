import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { MODES } from "../helpers/modes.js";
import { startProgramInMode } from "../helpers/program.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

const serve = (url: string, ...more: string[]): string[] => ["serve", url, "--port", "0", ...more];

const urlOf = (line: Readonly<Record<string, unknown>>): string => line["url"] as string;

/** Code that the process runs first: an error that nobody catches, at the signal. */
const bombFor = (does: string): string[] => [
  "--import",
  `data:text/javascript,process.on("SIGUSR2", () => { ${does} })`,
];

describe("an error that nobody caught", () => {
  const UNCAUGHT = [
    ["thrown", "throw new Error('nobody caught it')"],
    ["a rejection", "Promise.reject(new Error('nobody caught it'))"],
  ] as const;

  it.each(MODES.flatMap((mode) => UNCAUGHT.map((each) => [mode, ...each] as const)))(
    "(%s, %s) is said and ends the process with 1, and breaks off what is in flight",
    async (mode, _, does) => {
      const upstream = await startUpstream(() => undefined);
      const running = await startProgramInMode(mode, upstream, "", { nodeArgs: bombFor(does) });
      const client = await openClient(running.url);
      client.write(verify());
      const { gone } = await upstream.arrived();
      running.child.kill("SIGUSR2");
      const line = await running.event("crashed");
      expect(line).toMatchObject({ level: "fatal", err: { message: "nobody caught it" } });
      expect((await running.finished).code).toBe(1);
      await client.incoming.ended;
      expect(client.incoming.length).toBe(0);
      await gone;
    },
  );

  it("is said at --log-level silent, too", async () => {
    const running = startCli(serve("http://127.0.0.1:9100", "--log-level", "silent"), {
      nodeArgs: ["--import", "data:text/javascript,setTimeout(() => { throw 7 }, 1500)"],
    });
    const { code, stderr } = await running.finished;
    expect({ code, lines: stderr.split("\n") }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^maskgate ends .*: 7$/), ""],
    });
  });
});

/** Code that the process runs first: fills the pipe to whoever reads its log. */
const FILL = `process.stderr.isTTY; for (const size of [999, 1]) try { for (;;) fs.writeSync(2, "x".repeat(size)) } catch {}`;

describe.each([
  ["on a full disk", { shell: "exec 2>/dev/full;" }, ""],
  ["whose reader has stopped", {}, FILL],
])("a log %s", (_, options, first) => {
  it.each([
    ["SIGTERM", 0],
    ["SIGUSR2", 1],
  ] as const)("does not keep the program from ending by %s", async (signal, code) => {
    const bomb = `process.on("SIGUSR2", () => { throw new Error("nobody caught it") })`;
    const script = encodeURIComponent(`import fs from "node:fs"; ${first}; ${bomb}`);
    const port = await freePort();
    const upstream = await startUpstream(answer(MASKED));
    const args = ["serve", upstream.url, "--port", String(port), "--masked-as-error"];
    const nodeArgs = ["--import", `data:text/javascript,${script}`];
    const { child } = startCli(args, { ...options, nodeArgs });
    child.stderr!.pause();
    const reply = await eventually(async () => rawRequest(`http://127.0.0.1:${port}`, verify()));
    expect(reply.status).toBe(503);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([code, null]);
    child.stderr!.resume();
  });
});

it("an audit file that is a pipe which nobody reads does not keep the program from ending", async () => {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
  closeLater(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const upstream = await startUpstream(
    answer(JSON.stringify({ mask_sample: true, failure_reason: "x".repeat(1900) })),
  );
  const config = join(folder, "maskgate.yaml");
  const yaml = `upstream: ${upstream.url}\nlisten: {port: 0}\naudit: {file: ${pipe}}\nroutes: [{name: s, mode: strict}]`;
  writeFileSync(config, yaml);
  const running = startCli(["serve", "--config", config]);
  const url = urlOf(await running.event("listening"));
  const replies = await Promise.all(
    Array.from({ length: 90 }, async () => rawRequest(url, verify())),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
  running.child.kill("SIGTERM");
  expect((await running.finished).code).toBe(0);
  const failed = running.logs.filter(({ event }) => event === "audit_failed");
  expect(failed.at(-1)?.["lost"]).toBeGreaterThan(0);
});

describe("a log whose reader has gone", () => {
  it.each(MODES)(
    "does not keep the program from serving and from stopping well (%s)",
    async (mode) => {
      const upstream = await startUpstream(answer(MASKED));
      const running = await startProgramInMode(mode, upstream, "logLevel: trace");
      const { url } = running;
      running.child.stderr?.destroy();
      for (let round = 0; round < 200; round += 1) {
        const reply = await rawRequest(url, verify());
        expect(reply.status).toBe(mode === "strict" ? 503 : 200);
      }
      running.child.kill("SIGTERM");
      expect((await running.finished).code).toBe(0);
    },
  );
});

describe.each(MODES)("the program, told to stop with verifies in flight (%s),", (mode) => {
  it("ends at the drain limit, and says how many it broke off", async () => {
    const upstream = await startUpstream(() => undefined);
    const running = await startProgramInMode(mode, upstream, "drainMs: 300");
    const { url } = running;
    const clients = await Promise.all([openClient(url), openClient(url)]);
    for (const client of clients) client.write(verify());
    await upstream.arrived(2);
    running.child.kill("SIGTERM");
    expect(await running.event("stopped")).toMatchObject({ level: "warn", inFlight: 2 });
    for (const client of clients) {
      await client.incoming.ended;
      expect(client.incoming.length).toBe(0);
    }
    expect((await running.finished).code).toBe(0);
  });

  it("ends at a second signal of another kind, and says how many it broke off", async () => {
    const upstream = await startUpstream(() => undefined);
    const running = await startProgramInMode(mode, upstream);
    const client = await openClient(running.url);
    client.write(verify());
    await upstream.arrived();
    running.child.kill("SIGTERM");
    await running.event("draining");
    running.child.kill("SIGINT");
    const line = await running.event("stopped");
    expect(line).toMatchObject({ level: "warn", inFlight: 1 });
    expect(line["msg"]).toContain("1 in flight were broken off");
    await running.finished;
  });
});
