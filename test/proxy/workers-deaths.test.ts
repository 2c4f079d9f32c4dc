import { describe, expect, it } from "vitest";
import { askStatus, scrape } from "../helpers/admin.js";
import { startCli } from "../helpers/cli.js";
import { eventually } from "../helpers/eventually.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { openClient, type RawClient } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";
import { type Crew, gone, startCrew, verifyAnew, workersOf } from "../helpers/workers.js";

const yaml = (upstream: string, listen = "{port: 0}"): string =>
  `upstream: ${upstream}\nlisten: ${listen}\nroutes: [{name: s, mode: strict}]`;

async function startMasked(): Promise<string> {
  const { url } = await startHttpUpstream((asked, reply) => {
    asked.resume();
    reply.setHeader("content-type", "application/json");
    reply.end(MASKED);
  });
  return url;
}

/** Sends verifies until both workers have translated one that came after `since` lines. */
async function bothServe(crew: Crew, url = crew.url): Promise<void> {
  const since = crew.logged("translated").length;
  await eventually(async () => {
    expect((await verifyAnew(url)).status).toBe(503);
    const served = crew.logged("translated").slice(since);
    expect(new Set(served.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
  });
}

describe("a worker that is killed", () => {
  it("takes what it had in flight with it and nothing else, is told of and replaced", async () => {
    const upstream = await startUpstream(() => undefined);
    const crew = await startCrew(yaml(upstream.url, "[{port: 0}, {port: 0}]"));
    const clients = await Promise.all([openClient(crew.url), openClient(crew.url)]);
    for (const client of clients) client.write(verify());
    const exchanges = [await upstream.arrived(1), await upstream.arrived(2)];
    await eventually(async () => expect((await askStatus(crew)).inFlight).toBe(2));
    const [first] = workersOf(crew.pid);
    process.kill(first!, "SIGKILL");
    const line = await crew.nth("worker_ended", 1);
    expect(line).toMatchObject({ level: "error", pid: first, how: "SIGKILL", worker: 1 });
    const broken = await Promise.race(
      clients.map(async (client): Promise<RawClient> => {
        await client.incoming.ended;
        return client;
      }),
    );
    expect(broken.incoming.length).toBe(0);
    const { pid } = await crew.nth("worker_started", 1);
    expect(workersOf(crew.pid)).toContain(pid);
    expect((await askStatus(crew)).inFlight).toBe(1);
    for (const { write } of exchanges) write(answer(MASKED));
    const other = clients.find((client) => client !== broken)!;
    expect((await other.reply("POST")).status).toBe(503);
    expect((await scrape(crew)).get("maskgate_requests_in_flight")).toBe(0);
  });

  it("breaks off the connection that it has not taken yet", async () => {
    const crew = await startCrew(yaml(await startMasked()));
    const [frozen] = workersOf(crew.pid);
    process.kill(frozen!, "SIGSTOP");
    const clients = await Promise.all([openClient(crew.url), openClient(crew.url)]);
    for (const client of clients) client.write(verify());
    const left = await Promise.race(
      clients.map(async (client, index): Promise<RawClient> => {
        expect((await client.reply("POST")).status).toBe(503);
        return clients[1 - index]!;
      }),
    );
    process.kill(frozen!, "SIGKILL");
    await left.incoming.ended;
    expect(left.incoming.length).toBe(0);
  });

  it("is replaced by one that listens where it did and by the routes of now", async () => {
    const upstream = await startMasked();
    const crew = await startCrew(yaml(upstream, "[{port: 0}, {port: 0}]"));
    const strict = yaml(upstream, "[{port: 0}, {port: 0}]");
    const rest = `\nworkers: 2\nadmin: {port: 0}`;
    await crew.change(
      `${strict.replace("strict", "strict, status: 599")}${rest}`,
      "config_applied",
    );
    process.kill(workersOf(crew.pid)[1]!, "SIGKILL");
    await crew.nth("worker_started", 1);
    for (const url of crew.urls) {
      const before = crew.logged("translated").length;
      const replies = await Promise.all([1, 2, 3, 4].map(async () => verifyAnew(url)));
      expect(replies.map(({ status }) => status)).toEqual([599, 599, 599, 599]);
      await crew.nth("translated", before + 4);
      const served = crew.logged("translated").slice(before);
      expect(new Set(served.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
    }
  });

  it("again and again as soon as it has started ends the program with 1 and a reason", async () => {
    const crew = await startCrew(yaml(await startMasked()));
    const survivor = workersOf(crew.pid)[1]!;
    let [pid] = workersOf(crew.pid);
    for (let n = 1; n < 5; n += 1) {
      process.kill(pid!, "SIGKILL");
      pid = (await crew.nth("worker_started", n))["pid"] as number;
      expect((await verifyAnew(crew.url)).status).toBe(503);
    }
    process.kill(pid!, "SIGKILL");
    const line = await crew.program.event("workers_failing");
    expect(line["level"]).toBe("fatal");
    expect(line["msg"]).toMatch(
      /^maskgate gives up: worker 1 ended 5 times in a row within 10 s of its start, at last with SIGKILL$/,
    );
    expect((await crew.program.finished).code).toBe(1);
    await eventually(() => gone([survivor]));
  });

  it("while others drain is told of, and the rest finishes", async () => {
    const upstream = await startUpstream(() => undefined);
    const crew = await startCrew(yaml(upstream.url));
    const clients = await Promise.all([openClient(crew.url), openClient(crew.url)]);
    for (const client of clients) client.write(verify());
    const exchanges = [await upstream.arrived(1), await upstream.arrived(2)];
    crew.program.child.kill("SIGTERM");
    await crew.program.event("draining");
    process.kill(workersOf(crew.pid)[0]!, "SIGKILL");
    await crew.nth("worker_ended", 1);
    for (const { write } of exchanges) write(answer(MASKED));
    const replies = clients.map(async (client) => client.reply("POST").catch(() => undefined));
    const statuses = (await Promise.all(replies)).map((reply) => reply?.status);
    expect(new Set(statuses)).toEqual(new Set([503, undefined]));
    expect((await crew.program.finished).code).toBe(0);
    expect(crew.logged("worker_started")).toEqual([]);
  });
});

it("an error that nobody caught ends its worker alone, and is said", async () => {
  const bomb = "process.on('SIGUSR2', () => { throw new Error('nobody caught it') })";
  const running = startCli(
    ["serve", await startMasked(), "--port", "0", "--masked-as-error", "--workers", "2"],
    { nodeArgs: ["--import", `data:text/javascript,${bomb}`] },
  );
  const { url } = await running.event("listening");
  process.kill(workersOf(running.child.pid ?? 0)[1]!, "SIGUSR2");
  const crash = await running.event("crashed");
  expect(crash).toMatchObject({ level: "fatal", worker: 2, err: { message: "nobody caught it" } });
  expect(crash["msg"]).toMatch(/^worker 2 ends because/);
  expect(await running.event("worker_ended")).toMatchObject({ worker: 2, how: "exit code 1" });
  await running.event("worker_started");
  expect((await verifyAnew(String(url))).status).toBe(503);
});

it("workers that all end at once are replaced, also where nothing else keeps the program alive", async () => {
  const args = ["--port", String(await freePort()), "--masked-as-error", "--workers", "2"];
  const running = startCli(["serve", await startMasked(), ...args]);
  const { url } = await running.event("listening");
  for (const pid of workersOf(running.child.pid ?? 0)) process.kill(pid, "SIGKILL");
  const started = (worker: number): Promise<unknown> =>
    running.until(
      (logs) =>
        logs.find((line) => line["event"] === "worker_started" && line["worker"] === worker),
      `worker_started of worker ${worker}`,
    );
  await Promise.all([started(1), started(2)]);
  expect((await verifyAnew(String(url))).status).toBe(503);
});

it("workers never outlive the program, not even a killed one", async () => {
  const crew = await startCrew(yaml(await startMasked()));
  await bothServe(crew);
  const pids = workersOf(crew.pid);
  expect(pids).toHaveLength(2);
  crew.program.child.kill("SIGKILL");
  await eventually(() => gone(pids));
});
