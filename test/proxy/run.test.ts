import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, type Running, startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { gymServer } from "../helpers/gym-server.js";
import { answer, request, SCORED, verify } from "../helpers/messages.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

interface Run extends Running {
  /** Settles with what the server printed that matches: `count` matches of it. */
  printed(pattern: RegExp, count?: number): Promise<string[]>;
}

function startRun(flags: readonly string[], command: readonly string[]): Run {
  const running = startCli(["run", "--port", "0", ...flags, "--", ...command]);
  let text = "";
  const { stdout } = running.child;
  stdout?.on("data", (data: Buffer) => {
    text += data.toString();
  });
  const printed = async (pattern: RegExp, count = 1): Promise<string[]> => {
    for (;;) {
      const found = text.match(new RegExp(pattern, "g")) ?? [];
      if (found.length >= count) return found;
      await once(stdout!, "data");
    }
  };
  return { ...running, printed };
}

async function pids(run: Run, count = 1): Promise<number[]> {
  const lines = await run.printed(/pid \d+(?=\n)/, count);
  const found = lines.map((line) => Number(line.slice("pid ".length)));
  // Where a test fails, nothing of it stays.
  closeLater(() => {
    for (const pid of found.filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  return found;
}

async function urlOf(run: Run): Promise<string> {
  return String((await run.event("listening"))["url"]);
}

describe("maskgate run", () => {
  it("starts the server and translates before it, with the server's words and output untouched", async () => {
    const port = String(await freePort());
    const words = ["--port", port, "--masked-as-error", "", "a b", "$HOME", "'\"", "--", "-x"];
    const run = startRun(["--masked-as-error"], gymServer(...words));
    const reply = await rawRequest(await urlOf(run), verify());
    expect(reply.status).toBe(503);
    run.child.kill("SIGTERM");
    const { stdout, stderr } = await run.finished;
    expect(stdout).toMatch(/^pid \d+\nready\ntold SIGTERM\n$/);
    expect(stderr).toContain(`to stderr: ${JSON.stringify(words)}\n`);
  });

  it("without --masked-as-error changes nothing", async () => {
    const run = startRun([], gymServer("--port", String(await freePort())));
    expect((await rawRequest(await urlOf(run), verify())).status).toBe(200);
  });

  it("warns once of a listener that other machines reach", async () => {
    const port = String(await freePort());
    const run = startRun(["--host", "0.0.0.0"], gymServer("--port", port));
    await urlOf(run);
    run.child.kill("SIGTERM");
    expect((await run.finished).stderr.match(/"event":"exposed"/g)).toHaveLength(1);
  });

  it("listens only when the server answers, and says what it waits for", async () => {
    const port = String(await freePort());
    const run = startRun([], gymServer("--port", port, "--wait"));
    expect(await run.event("server_waiting")).toMatchObject({
      upstream: `http://127.0.0.1:${port}`,
    });
    await run.printed(/waits/);
    const [pid] = await pids(run);
    process.kill(pid!, "SIGUSR2");
    await run.event("listening");
    run.child.kill("SIGTERM");
    const { stderr } = await run.finished;
    expect(stderr.indexOf('"server_waiting"')).toBeLessThan(stderr.indexOf('"listening"'));
  });

  it("takes --upstream for a server that names no port", async () => {
    const port = String(await freePort());
    const run = startRun(["--upstream", `http://127.0.0.1:${port}`], gymServer("--at", port));
    expect((await rawRequest(await urlOf(run), verify())).status).toBe(200);
  });

  it("needs no dashes before the command", async () => {
    const port = String(await freePort());
    const running = startCli(["run", "--port", "0", ...gymServer("--port", port)]);
    expect(await running.event("listening")).toMatchObject({
      upstream: `http://127.0.0.1:${port}`,
    });
  });

  it("applies a changed configuration file, as serve does", async () => {
    const folder = mkdtempSync(join(tmpdir(), "maskgate-run-"));
    closeLater(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "maskgate.yaml");
    writeFileSync(file, "routes: []\n");
    const run = startRun(["--config", file], gymServer("--port", String(await freePort())));
    const url = await urlOf(run);
    expect((await rawRequest(url, verify())).status).toBe(200);
    writeFileSync(file, "routes: [{name: all, mode: strict}]\n");
    await run.event("config_applied");
    expect((await rawRequest(url, verify())).status).toBe(503);
  });

  it("applies a configuration file that was changed while the server started", async () => {
    const folder = mkdtempSync(join(tmpdir(), "maskgate-run-"));
    closeLater(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "maskgate.yaml");
    writeFileSync(file, "routes: []\n");
    const server = gymServer("--port", String(await freePort()), "--wait");
    const run = startRun(["--config", file], server);
    await run.printed(/waits/);
    writeFileSync(file, "routes: [{name: all, mode: strict}]\n");
    const [pid] = await pids(run);
    process.kill(pid!, "SIGUSR2");
    const url = await urlOf(run);
    await run.event("config_applied");
    expect((await rawRequest(url, verify())).status).toBe(503);
  });
});

describe("maskgate run, before anything is started, exits 2 with one sentence", () => {
  it("for a server whose port nobody tells", async () => {
    const { code, stdout, stderr } = await runCli(["run", "--", ...gymServer("--at", "1")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^maskgate: .*--port.*--upstream.*\n$/);
  });

  it("for a port of its own that is taken", async () => {
    const taken = await startUpstream(answer("{}"));
    const words = gymServer("--port", String(await freePort()));
    const { code, stdout, stderr } = await runCli([
      "run",
      "--port",
      String(taken.port),
      "--",
      ...words,
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(String(taken.port));
  });

  it("for a server's port on which something answers already", async () => {
    const other = await startUpstream(answer(SCORED));
    const { code, stdout, stderr } = await runCli([
      "run",
      "--port",
      "0",
      "--",
      ...gymServer("--port", String(other.port)),
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`already answers on ${other.url}`);
  });

  it("for no command", async () => {
    const { code, stderr } = await runCli(["run", "--port", "0"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/command/);
  });
});

describe("maskgate run ends with its server", () => {
  it.each([0, 3])("that ends with %i before it answers", async (wanted) => {
    const port = String(await freePort());
    const { code, stderr } = await startRun([], gymServer("--port", port, "--ends", String(wanted)))
      .finished;
    expect(code).toBe(wanted);
    expect(stderr).toContain(
      `maskgate: the server ended with exit code ${wanted} before it answered on http://127.0.0.1:${port}\n`,
    );
  });

  it("that cannot be started", async () => {
    const { code, stderr } = await startRun([], ["/no/such/server", "--port", "1"]).finished;
    expect(code).toBe(127);
    expect(stderr).toContain("no such command");
  });

  it("that ends in the middle of an answer", async () => {
    const words = gymServer("--port", String(await freePort()), "--code", "7");
    const run = startRun(["--masked-as-error"], words);
    const client = await openClient(await urlOf(run));
    client.write(request("POST", "/end"));
    expect((await client.reply("POST")).status).toBe(502);
    const { code, stderr } = await run.finished;
    expect(code).toBe(7);
    expect(stderr).toContain('"event":"server_ended"');
  });

  it("that is killed: 128 and the signal's number", async () => {
    const run = startRun([], gymServer("--port", String(await freePort())));
    await run.event("listening");
    const [pid] = await pids(run);
    process.kill(pid!, "SIGKILL");
    expect((await run.finished).code).toBe(137);
  });

  it("and leaves no process of its group behind", async () => {
    const words = gymServer("--port", String(await freePort()), "--brings", "same", "--code", "5");
    const run = startRun([], words);
    const all = await pids(run, 2);
    await rawRequest(await urlOf(run), request("POST", "/end")).catch(() => undefined);
    // Both processes hold this run's output open: it has finished when both have ended.
    expect((await run.finished).code).toBe(5);
    expect(all.filter(isAlive)).toEqual([]);
  });
});

describe("maskgate run, told to stop", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)(
    "by %s lets what is in flight finish before the server hears of it, and ends with %i",
    async (signal, wanted) => {
      const run = startRun([], gymServer("--port", String(await freePort())));
      const client = await openClient(await urlOf(run));
      client.write(request("POST", "/hold"));
      await run.printed(/held/);
      run.child.kill(signal);
      await run.event("draining");
      const [pid] = await pids(run);
      process.kill(pid!, "SIGUSR1");
      expect((await client.reply("POST")).status).toBe(200);
      const { code, stdout, stderr } = await run.finished;
      expect(code).toBe(wanted);
      expect(stdout).toContain(`told ${signal}`);
      expect(stderr).toContain("nothing was cut off");
    },
  );

  it("ends with the exit code that the server chooses", async () => {
    const run = startRun([], gymServer("--port", String(await freePort()), "--code", "0"));
    await run.event("listening");
    run.child.kill("SIGTERM");
    expect((await run.finished).code).toBe(0);
  });

  it("while the server still starts passes the signal on at once", async () => {
    const run = startRun([], gymServer("--port", String(await freePort()), "--wait"));
    await run.printed(/waits/);
    run.child.kill("SIGTERM");
    const { code, stdout, stderr } = await run.finished;
    expect(code).toBe(143);
    expect(stdout).toContain("told SIGTERM");
    expect(stderr).not.toContain('"listening"');
  });

  it("passes every further signal on to a server that takes its time", async () => {
    const run = startRun([], gymServer("--port", String(await freePort()), "--deaf"));
    await run.event("listening");
    run.child.kill("SIGTERM");
    await run.printed(/told SIGTERM/);
    run.child.kill("SIGINT");
    await run.printed(/told SIGINT/);
    const [pid] = await pids(run);
    process.kill(pid!, "SIGKILL");
    expect((await run.finished).code).toBe(137);
  });
});

describe("maskgate run, killed by SIGKILL", () => {
  it.each([
    ["a server that listens", 1, []],
    ["a server that still starts", 1, ["--wait"]],
    ["a server that ignores SIGTERM", 1, ["--deaf"]],
    ["a process that the server started", 2, ["--brings", "same"]],
    ["a process that the server started in a group of its own", 2, ["--brings", "own", "--deaf"]],
  ] as const)("leaves nothing behind of %s", async (_what, count, words) => {
    const run = startRun([], gymServer("--port", String(await freePort()), ...words));
    const all = await pids(run, count);
    await run.printed(/ready|waits/);
    expect(all.filter(isAlive)).toHaveLength(count);
    run.child.kill("SIGKILL");
    // All of them hold this run's output open: it has finished when the last has ended.
    await run.finished;
    while (all.some(isAlive));
  });
});

/** Whether the process runs: one that has ended and that nobody waits for still has its number. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
