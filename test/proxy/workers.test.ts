import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, askStatus, scrape } from "../helpers/admin.js";
import { runCli, startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { isTaken } from "../helpers/ramp.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";
import { type Crew, startCrew, verifyAnew, workersOf } from "../helpers/workers.js";

const STRICT = "routes: [{name: s, mode: strict}]";

const yaml = (upstream: string, more = STRICT): string =>
  `upstream: ${upstream}\nlisten: {port: 0}\n${more}`;

/** Answers masked where the path says so, else scored. */
async function startJudge(): Promise<string> {
  const { url } = await startHttpUpstream((asked, reply) => {
    asked.resume();
    reply.setHeader("content-type", "application/json");
    reply.end(asked.url?.includes("masked") === true ? MASKED : SCORED);
  });
  return url;
}

/** Which workers have logged one of these events. */
function speakers(crew: Crew, event: string): Set<unknown> {
  return new Set(crew.logged(event).map(({ worker }) => worker));
}

describe("what workers do together", () => {
  it("is in one scrape, one status, one record and one storm", async () => {
    const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
    closeLater(() => rmSync(folder, { recursive: true }));
    const audit = join(folder, "audit.jsonl");
    const more = `${STRICT}\naudit: {file: ${audit}}\nalert: {minAnswers: 50, maskedShare: 0.6}`;
    const crew = await startCrew(yaml(await startJudge(), more));
    const paths = Array.from({ length: 50 }, (_, i) =>
      i % 5 < 3 ? `/ng-rollout/masked-${i}/verify` : "/verify",
    );
    const replies = await Promise.all(paths.map(async (path) => verifyAnew(crew.url, path)));
    expect(replies.map(({ status }) => status)).toEqual(
      paths.map((p) => (p === "/verify" ? 200 : 503)),
    );

    const samples = await scrape(crew);
    const of = 'mode="strict",route="s"';
    const masked = `decision="translate",kind="judge_failed",${of},signal="mask_sample",verdict="masked"`;
    expect(samples.get(`maskgate_answers_total{${masked}}`)).toBe(30);
    expect(samples.get(`maskgate_answers_total{decision="pass",${of},verdict="scored"}`)).toBe(20);
    const served = (status: number): string =>
      `maskgate_requests_total{http_response_status_code="${status}",${of}}`;
    expect([samples.get(served(200)), samples.get(served(503))]).toEqual([20, 30]);
    expect(samples.get(`maskgate_request_duration_seconds_count{${of}}`)).toBe(50);
    expect(samples.get(`maskgate_mask_storms_total{${of}}`)).toBe(1);
    const measured = [...samples.keys()].filter((key) =>
      key.startsWith("nodejs_eventloop_lag_p99"),
    );
    expect(measured).toEqual(
      ["primary", "1", "2"].map((name) => `nodejs_eventloop_lag_p99_seconds{worker="${name}"}`),
    );

    const { routes, recent, inFlight } = await askStatus(crew);
    expect(routes[0]).toMatchObject({ requests: 50, translated: 30, kinds: { judge_failed: 30 } });
    expect(routes[0]?.window).toEqual({ answers: 50, masked: 30, share: 0.6 });
    expect(new Set(recent.map(({ rollout }) => rollout)).size).toBe(30);
    expect(inFlight).toBe(0);
    expect(await crew.nth("mask_storm", 1)).toMatchObject({ answers: 50, masked: 30 });

    await crew.nth("translated", 30);
    expect(speakers(crew, "translated")).toEqual(new Set([1, 2]));
    crew.program.child.kill("SIGTERM");
    expect((await crew.program.finished).code).toBe(0);
    const lines = readFileSync(audit, "utf8").trim().split("\n");
    expect(
      new Set(lines.map((line) => (JSON.parse(line) as { rollout: string }).rollout)).size,
    ).toBe(30);
    expect(lines).toHaveLength(30);
  });

  it("is one ramp: the same tasks whoever is asked", async () => {
    const ramp = "routes: [{name: s, mode: strict, ramp: {percentage: 50, salt: run-42}}]";
    const crew = await startCrew(yaml(await startJudge(), ramp));
    const tasks = Array.from({ length: 40 }, (_, i) => `masked${i}`);
    const wanted = tasks.filter((task) => isTaken("run-42", task, 50));
    for (let round = 0; round < 3; round += 1) {
      const got = tasks.map(async (task) => {
        const { status } = await verifyAnew(crew.url, `/ng-rollout/${task}-${round}/verify`);
        return status === 503 ? [task] : [];
      });
      expect((await Promise.all(got)).flat()).toEqual(wanted);
    }
    await crew.nth("translated", 3 * wanted.length);
    await crew.nth("let_through", 3 * (40 - wanted.length));
    for (const event of ["translated", "let_through"]) {
      expect(speakers(crew, event)).toEqual(new Set([1, 2]));
    }
  });

  it("keeps one memory limit", async () => {
    const size = 300_000;
    // What waits to be joined with more, of each answer.
    const waiting = 8 * 16 * 1024;
    const upstream = await startUpstream(() => undefined);
    const crew = await startCrew(yaml(upstream.url, `${STRICT}\nholdMemoryBytes: 1000000`));
    const body = SCORED.replace('"reward"', `"pad":"${"x".repeat(size)}","reward"`);
    const replies = Array.from({ length: 8 }, async () => verifyAnew(crew.url));
    const exchanges = await Promise.all(replies.map(async (_, i) => upstream.arrived(i + 1)));
    for (const { write } of exchanges) write(answer(body).subarray(0, -1));
    await eventually(async () => {
      const { heldBytes, spilledBytes, holdMemoryBytes, inFlight } = await askStatus(crew);
      expect(holdMemoryBytes).toBe(1_000_000);
      expect(inFlight).toBe(8);
      expect(heldBytes).toBeLessThanOrEqual(1_000_000 + waiting);
      expect(heldBytes).toBeGreaterThan(0);
      expect(heldBytes + spilledBytes).toBe(8 * (Buffer.byteLength(body) - 1));
    });
    for (const { write } of exchanges) write("}");
    expect((await Promise.all(replies)).map(({ text }) => text === body)).not.toContain(false);
  });

  it("is served on every listener", async () => {
    const url = await startJudge();
    const crew = await startCrew(
      `upstream: ${url}\nlisten: [{port: 0}, {port: 0}]\nroutes: [{name: s, mode: strict}]`,
    );
    expect(new Set(crew.urls).size).toBe(2);
    for (const at of crew.urls) {
      const replies = await Promise.all(
        [1, 2, 3].map(async () => verifyAnew(at, "/ng-rollout/masked-1/verify")),
      );
      expect(replies.map(({ status }) => status)).toEqual([503, 503, 503]);
    }
  });
});

describe("the number of workers", () => {
  it.each(["0", "-1", "1.5", "x", "", "257"])("%j is refused with exit code 2", async (given) => {
    const { code, stderr } = await runCli(["serve", "http://127.0.0.1:9", "--workers", given]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^maskgate: --workers: .*a whole number from 1 to 256\n$/);
  });

  it("of one makes no process, and more than there are cores are warned of", async () => {
    const alone = startCli(["serve", "http://127.0.0.1:9", "--port", "0", "--workers", "1"]);
    await alone.event("listening");
    expect(workersOf(alone.child.pid ?? 0)).toEqual([]);
    const many = startCli(["serve", "http://127.0.0.1:9", "--port", "0"], {
      env: { MASKGATE_WORKERS: "2" },
      nodeArgs: [
        "--import",
        "data:text/javascript,import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module'; os.availableParallelism = () => 1; syncBuiltinESMExports();",
      ],
    });
    expect(await many.event("many_workers")).toMatchObject({ level: "warn", workers: 2, cores: 1 });
    expect(workersOf(many.child.pid ?? 0)).toHaveLength(2);
  });

  it("goes with a server of its own, too, and ends with it", async () => {
    const port = await freePort();
    const code = `require("http").createServer((q, r) => { r.end("hi"); if (q.url === "/end") process.exit(7); }).listen(${port}, "127.0.0.1")`;
    const running = startCli([
      ...["run", "--port", "0", "--workers", "2", "--upstream", `http://127.0.0.1:${port}`],
      ...["--", process.execPath, "-e", code],
    ]);
    const { url } = await running.event("listening");
    expect((await rawRequest(String(url), request("GET", "/"))).text).toBe("hi");
    await rawRequest(String(url), request("GET", "/end")).catch(() => undefined);
    expect((await running.finished).code).toBe(7);
  });

  it("changes nothing of how a taken port is told of", async () => {
    const { server } = await startHttpUpstream(() => undefined);
    const { port } = server.address() as { port: number };
    const { code, stderr } = await runCli([
      ...["serve", "http://127.0.0.1:9", "--workers", "2", "--port", String(port)],
    ]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `maskgate: cannot listen on 127.0.0.1:${port}: the port is taken; stop what listens there or choose another --port\n`,
    );
  });
});

describe("a stop", () => {
  it("lets what is in flight in every worker finish, also when all processes are told", async () => {
    const upstream = await startUpstream(() => undefined);
    const crew = await startCrew(yaml(upstream.url));
    const clients = await Promise.all([openClient(crew.url), openClient(crew.url)]);
    for (const client of clients) client.write(verify());
    const exchanges = [await upstream.arrived(1), await upstream.arrived(2)];
    for (const pid of [...workersOf(crew.pid), crew.pid]) process.kill(pid, "SIGTERM");
    expect(await crew.program.event("draining")).toMatchObject({ inFlight: 2 });
    expect((await ask(crew, "/readyz")).status).toBe(503);
    for (const { write } of exchanges) write(answer(MASKED));
    for (const client of clients) expect((await client.reply("POST")).status).toBe(503);
    expect((await crew.program.finished).code).toBe(0);
    expect(crew.logged("stopped")).toMatchObject([{ level: "info", inFlight: 0 }]);
    expect(crew.logged("translated")).toHaveLength(2);
    expect(crew.logged("worker_ended")).toEqual([]);
  });

  it("ends at once at a second signal, and says how many it broke off", async () => {
    const upstream = await startUpstream(() => undefined);
    const crew = await startCrew(yaml(upstream.url));
    const clients = await Promise.all([openClient(crew.url), openClient(crew.url)]);
    for (const client of clients) client.write(verify());
    await upstream.arrived(2);
    crew.program.child.kill("SIGTERM");
    await crew.program.event("draining");
    crew.program.child.kill("SIGINT");
    expect(await crew.program.event("stopped")).toMatchObject({ level: "warn", inFlight: 2 });
    for (const client of clients) {
      await client.incoming.ended;
      expect(client.incoming.length).toBe(0);
    }
    expect((await crew.program.finished).code).toBe(0);
  });
});
