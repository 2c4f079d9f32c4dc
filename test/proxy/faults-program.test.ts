import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { openClient, rawRequest, type RawClient, type Reply } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

const serve = (url: string, ...more: string[]): string[] => ["serve", url, "--port", "0", ...more];

const urlOf = (line: Readonly<Record<string, unknown>>): string => line["url"] as string;

/** Code that the process runs first: an error that nobody catches, at the signal. */
const bombFor = (does: string): string[] => [
  "--import",
  `data:text/javascript,process.on("SIGUSR2", () => { ${does} })`,
];

describe("an error that nobody caught", () => {
  it.each([
    ["thrown", "throw new Error('nobody caught it')"],
    ["a rejection", "Promise.reject(new Error('nobody caught it'))"],
  ])(
    "(%s) is said and ends the process with 1, and breaks off what is in flight",
    async (_, does) => {
      const upstream = await startUpstream(() => undefined);
      const running = startCli(serve(upstream.url, "--masked-as-error"), {
        nodeArgs: bombFor(does),
      });
      const client = await openClient(urlOf(await running.event("listening")));
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
  it("does not keep the program from serving and from stopping well", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const running = startCli(serve(upstream.url, "--masked-as-error", "--log-level", "trace"));
    const url = urlOf(await running.event("listening"));
    running.child.stderr?.destroy();
    for (let round = 0; round < 200; round += 1) {
      expect((await rawRequest(url, verify())).status).toBe(503);
    }
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
  });
});

describe.runIf(process.platform === "linux")("a process without a file descriptor to spare", () => {
  it("answers 502 or not at all, goes on, and serves again when clients leave", async () => {
    const upstream = await startUpstream(async ({ received, whole, write }) => {
      await whole;
      if (received.target === "/verify") write(answer(SCORED));
    });
    const running = startCli(serve(upstream.url, "--masked-as-error"), { shell: "ulimit -n 256;" });
    const url = urlOf(await running.event("listening"));
    const waiting: RawClient[] = [];
    const replies: Promise<Reply | undefined>[] = [];
    for (let n = 0; n < 300; n += 1) {
      const client = await openClient(url);
      waiting.push(client);
      client.write(request("POST", "/wait", { body: "{}" }));
      replies.push(client.reply("POST").catch(() => undefined));
    }
    const first = await Promise.race(replies.slice(100));
    if (first !== undefined) {
      expect(first.status).toBe(502);
      expect(valuesOf(first.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
    }
    for (const client of waiting) client.destroy();
    let reply: Reply | undefined;
    while (reply?.status !== 200) reply = await rawRequest(url, verify()).catch(() => undefined);
    expect(reply.text).toBe(SCORED);
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
  });
});

describe("a temporary folder that is not there", () => {
  it("makes a strict answer that memory has no room for a 502, and the program goes on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
    closeLater(() => rmSync(folder, { recursive: true, force: true }));
    const upstream = await startUpstream(answer(SCORED));
    const running = startCli(
      serve(upstream.url, "--masked-as-error", "--hold-memory-bytes", "10"),
      {
        env: { TMPDIR: folder },
      },
    );
    const url = urlOf(await running.event("listening"));
    expect((await rawRequest(url, verify())).text).toBe(SCORED);
    rmSync(folder, { recursive: true });
    for (let round = 0; round < 3; round += 1) {
      const reply = await rawRequest(url, verify());
      expect(reply.status).toBe(502);
      expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
      expect(reply.text).toContain("temporary folder");
    }
    expect((await rawRequest(url, request("GET", "/"))).text).toBe(SCORED);
  });
});

describe("the program, told to stop with verifies in flight", () => {
  it("ends at the drain limit, and says how many it broke off", async () => {
    const upstream = await startUpstream(() => undefined);
    const running = startCli(serve(upstream.url, "--masked-as-error", "--drain-ms", "300"));
    const url = urlOf(await running.event("listening"));
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
    const running = startCli(serve(upstream.url, "--masked-as-error"));
    const client = await openClient(urlOf(await running.event("listening")));
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
