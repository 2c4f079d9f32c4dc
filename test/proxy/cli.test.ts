import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { type Finished, runCli, startCli } from "../helpers/cli.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES } from "../helpers/modes.js";
import { startProgramInMode } from "../helpers/program.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

/** Runs the program as built into dist (npm test builds it first). */
const serve = (...args: string[]): string[] => ["serve", ...args];

const isOpen = async (url: string): Promise<boolean> =>
  openClient(url).then(
    () => true,
    () => false,
  );

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

const BAD_USAGE: readonly (readonly [name: string, args: string[], sentence: RegExp])[] = [
  ["no upstream", serve(), /upstream/],
  ["an upstream that is no URL", serve("nowhere"), /upstream/],
  ["an upstream with a path", serve("http://127.0.0.1:9100/x"), /path/],
  ["a port that is none", serve("http://127.0.0.1:9100", "--port", "99999"), /port/],
  ["a port in words", serve("http://127.0.0.1:9100", "--port", "many"), /port/],
  ["an unknown option", serve("http://127.0.0.1:9100", "--strict"), /--strict/],
  ["an unknown command", ["sreve", "http://127.0.0.1:9100"], /sreve/],
  ["an unknown log level", serve("http://127.0.0.1:9100", "--log-level", "loud"), /log-level/],
  ["a surplus argument", serve("http://127.0.0.1:9100", "http://127.0.0.1:9101"), /argument/],
  [
    "an address that is not ours",
    serve("http://127.0.0.1:9100", "--host", "192.0.2.1", "--port", "0"),
    /192\.0\.2\.1/,
  ],
];

describe("the program", () => {
  it("prints help and its version, and exits 0", async () => {
    const [help, ofServe, version] = await Promise.all([
      runCli(["--help"]),
      runCli(["serve", "--help"]),
      runCli(["--version"]),
    ]);
    expect(help.code).toBe(0);
    expect(help.stdout).toMatch(/^Usage: maskgate /);
    expect(help.stdout).toMatch(/\bserve\b[^]*\bdemo\b/);
    expect(ofServe.code).toBe(0);
    for (const option of ["--port", "--host", "--masked-as-error", "--log-level"]) {
      expect(ofServe.stdout).toContain(option);
    }
    const [example = "", schema = ""] =
      ofServe.stdout.match(/\/.*maskgate\.(?:example|schema)\..*/g) ?? [];
    expect(readFileSync(example, "utf8")).toContain("Every option of maskgate, once.");
    expect(JSON.parse(readFileSync(schema, "utf8"))).toHaveProperty("$schema");
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version: wanted } = JSON.parse(text) as { version: string };
    expect(version).toEqual({ code: 0, stdout: `${wanted}\n`, stderr: "" });
  });

  describe("for bad usage", () => {
    const runs = new Map<string, Finished>();
    // All at once: most of a run is the start of Node.
    beforeAll(async () => {
      await Promise.all(BAD_USAGE.map(async ([name, args]) => runs.set(name, await runCli(args))));
    }, 60_000);

    it.each(BAD_USAGE)("exits 2 with one sentence for %s", (name, _args, sentence) => {
      const { code, stdout = "", stderr = "" } = runs.get(name) ?? {};
      expect(code).toBe(2);
      expect(stdout).toBe("");
      const lines = stderr.trimEnd().split("\n");
      expect(lines[0]).toMatch(sentence);
      expect(stderr).not.toMatch(/^\s+at /m);
      // A hint may follow what was meant, or where to read on; nothing else.
      const hint = /^$|--help|^\(Did you mean .+\?\)$/;
      expect(lines.slice(1).filter((line) => !hint.test(line))).toEqual([]);
    });
  });

  it("exits 2 with one sentence for a port that is taken", async () => {
    const taken = await startUpstream(answer("{}"));
    const { code, stderr } = await runCli(
      serve("http://127.0.0.1:9100", "--port", String(taken.port)),
    );
    expect(code).toBe(2);
    expect(stderr).toContain(String(taken.port));
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it("says in one line where it listens, in front of what, and how", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const passing = startCli(serve(upstream.url, "--port", "0"));
    const strict = startCli(serve(upstream.url, "--port", "0", "--masked-as-error"));
    const [one, two] = [await passing.event("listening"), await strict.event("listening")];
    expect(one).toMatchObject({ level: "info", upstream: upstream.url, mode: "passthrough" });
    expect(two).toMatchObject({ level: "info", upstream: upstream.url, mode: "strict" });
    expect(stringOf(one["url"])).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(stringOf(one["msg"])).toContain(stringOf(one["url"]));
    expect(stringOf(one["msg"])).toContain(upstream.url);
    expect((await rawRequest(stringOf(one["url"]), verify())).text).toBe(MASKED);
    expect((await rawRequest(stringOf(two["url"]), verify())).status).toBe(503);
  });

  it("listens on the port it is given", async () => {
    const port = await freePort();
    const running = startCli(serve("http://127.0.0.1:9100", "--port", String(port)));
    expect((await running.event("listening"))["url"]).toBe(`http://127.0.0.1:${port}`);
  });

  it("writes nothing at --log-level silent, and serves", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const port = await freePort();
    const args = serve(
      upstream.url,
      "--port",
      String(port),
      "--masked-as-error",
      "--log-level",
      "silent",
    );
    const running = startCli(args);
    const url = `http://127.0.0.1:${port}`;
    let reply;
    while (reply === undefined) reply = await rawRequest(url, verify()).catch(() => undefined);
    expect(reply.status).toBe(503);
    running.child.kill("SIGTERM");
    expect(await running.finished).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

describe("the program, told to stop", () => {
  it.each(
    MODES.flatMap((mode) => (["SIGTERM", "SIGINT"] as const).map((name) => [mode, name] as const)),
  )(
    "(%s) by %s lets what is in flight finish, takes nothing new, and exits 0",
    async (mode, signal) => {
      const upstream = await startUpstream(async ({ received, whole, write }) => {
        await whole;
        if (received.target === "/before") write(answer("{}"));
      });
      const running = await startProgramInMode(mode, upstream);
      const { url } = running;
      const idle = await openClient(url);
      idle.write(request("GET", "/before"));
      await idle.reply();
      const client = await openClient(url);
      client.write(verify());
      const { write, whole, flushed } = await upstream.arrived(2);
      await whole;
      write(answer(MASKED).subarray(0, -9));
      await flushed();
      running.child.kill(signal);
      await running.event("draining");
      await idle.incoming.ended;
      // The port closes a moment after the idle connections do.
      while (await isOpen(url));
      write(answer(MASKED).subarray(-9));
      const reply = await client.reply("POST");
      if (mode === "strict") expect(reply.reason).toBe("Masked: judge_failed: the judge is gone");
      else expect(reply.text).toBe(MASKED);
      await client.incoming.ended;
      const { code, stderr } = await running.finished;
      expect(code).toBe(0);
      expect(stderr).toContain('"event":"stopped"');
    },
  );

  it("writes its last lines in their order, however slow the log is", async () => {
    const slow = `import fs from "node:fs"; const { write } = fs; fs.write = (...all) => setTimeout(() => write(...all), 100);`;
    const nodeArgs = ["--import", `data:text/javascript,${encodeURIComponent(slow)}`];
    const running = startCli(serve("http://127.0.0.1:9", "--port", "0"), { nodeArgs });
    await running.event("listening");
    running.child.kill("SIGTERM");
    const { code } = await running.finished;
    expect(code).toBe(0);
    const events = running.logs
      .map(({ event }) => event)
      .filter((event) => event !== "few_descriptors");
    expect(events).toEqual(["listening", "draining", "stopped"]);
  });

  it("at the moment it says that it listens drains and exits 0", async () => {
    const running = startCli(serve("http://127.0.0.1:9100", "--port", "0"));
    await running.event("listening");
    running.child.kill("SIGTERM");
    const { code, stderr } = await running.finished;
    expect(code).toBe(0);
    expect(stderr).toContain('"event":"draining"');
  });

  it("does not wait for a connection on which nothing was asked", async () => {
    const upstream = await startUpstream(answer("{}"));
    const running = startCli(serve(upstream.url, "--port", "0"));
    const url = stringOf((await running.event("listening"))["url"]);
    await rawRequest(url, request("GET", "/"));
    const silent = await openClient(url);
    running.child.kill("SIGTERM");
    await silent.incoming.ended;
    expect((await running.finished).code).toBe(0);
  });

  it.each(["SIGHUP", "SIGUSR2"] as const)("does not end sooner because of a %s", async (signal) => {
    const upstream = await startUpstream(() => undefined);
    const running = startCli(serve(upstream.url, "--port", "0"));
    const client = await openClient(stringOf((await running.event("listening"))["url"]));
    client.write(verify());
    const { write, whole } = await upstream.arrived();
    await whole;
    running.child.kill("SIGTERM");
    await running.event("draining");
    running.child.kill(signal);
    write(answer(SCORED));
    expect((await client.reply("POST")).text).toBe(SCORED);
    expect((await running.finished).code).toBe(0);
  });

  it("twice breaks off what is in flight", async () => {
    const upstream = await startUpstream(() => undefined);
    const running = startCli(serve(upstream.url, "--port", "0"));
    const client = await openClient(stringOf((await running.event("listening"))["url"]));
    client.write(verify());
    const { gone } = await upstream.arrived();
    running.child.kill("SIGTERM");
    await running.event("draining");
    running.child.kill("SIGTERM");
    await client.incoming.ended;
    await gone;
    await running.finished;
  });
});
