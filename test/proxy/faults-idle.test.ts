import { expect, it } from "vitest";
import { answer, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream, type Upstream } from "../helpers/upstream.js";

/** An upstream that ends a connection which has been idle for this long, and says nothing of it in its header; `lost` counts those. */
async function startImpatient(idleMs: number): Promise<Upstream & { readonly lost: () => number }> {
  const timers = new Map<number, NodeJS.Timeout>();
  let lost = 0;
  const upstream = await startUpstream(async ({ received, whole, gone, write, end }) => {
    clearTimeout(timers.get(received.connection));
    await whole;
    write(answer(SCORED));
    const timer = setTimeout(() => {
      lost += 1;
      end();
    }, idleMs);
    timers.set(received.connection, timer);
    void gone.then(() => clearTimeout(timer));
  });
  return Object.assign(upstream, { lost: () => lost });
}

const pause = async (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

// nginx: 75 s, uvicorn: 5 s, Gym's launcher: 30 s, some balancers: 1 s. Requests come around the moment at which the upstream closes.
it.each([1000, 2000, 5000])(
  "an upstream that closes idle connections after %i ms costs no client of thirty an error, and gets nothing twice",
  async (idleMs) => {
    const upstream = await startImpatient(idleMs);
    const proxies = await Promise.all(MODES.map(async (mode) => startInMode(mode, upstream)));
    const one = async (n: number): Promise<number[]> => {
      const client = await openClient(proxies[n % proxies.length]!.url);
      const statuses: number[] = [];
      const ask = async (round: number): Promise<void> => {
        client.write(request("POST", `/verify?${n}-${round}`, { body: "{}" }));
        statuses.push((await client.reply("POST")).status);
      };
      await ask(0);
      // Traffic that keeps the connection young, then a pause that ends right before, at and behind the limit.
      for (const round of [1, 2, 3]) {
        await pause(40);
        await ask(round);
      }
      await pause(idleMs - 15 + n);
      await ask(4);
      return statuses;
    };
    const all = await Promise.all(Array.from({ length: 30 }, async (_, n) => one(n)));
    expect(new Set(all.flat())).toEqual(new Set([200]));
    const targets = upstream.requests.map(({ target }) => target);
    expect(targets).toHaveLength(150);
    expect(new Set(targets).size).toBe(150);
  },
);

// Whether a request meets the very moment is chance, so the same once more without it.
it.each(MODES)(
  "gives up an idle connection before an upstream does that waits for 2 s (%s)",
  async (mode) => {
    const upstream = await startImpatient(2000);
    const proxy = await startInMode(mode, upstream);
    const clients = await Promise.all(Array.from({ length: 8 }, async () => openClient(proxy.url)));
    for (const client of clients) client.write(verify());
    for (const client of clients) expect((await client.reply("POST")).status).toBe(200);
    await upstream.quiet();
    expect(upstream.lost()).toBe(0);
  },
);

it("never uses a connection that has been idle for long, however many requests come at once while another is young", async () => {
  const upstream = await startUpstream(async ({ whole, write }) => {
    await whole;
    write(answer(SCORED));
  });
  const proxy = await startInMode("strict", upstream);
  const clients = await Promise.all(Array.from({ length: 8 }, async () => openClient(proxy.url)));
  const atOnce = async (): Promise<number[]> => {
    const before = upstream.requests.length;
    for (const client of clients) client.write(verify());
    for (const client of clients) expect((await client.reply("POST")).status).toBe(200);
    return upstream.requests.slice(before).map(({ connection }) => connection);
  };
  const old = new Set(await atOnce());
  let young = -1;
  for (let round = 0; round < 8; round += 1) {
    await pause(90);
    clients[0]!.write(verify());
    await clients[0]!.reply("POST");
    young = upstream.requests.at(-1)!.connection;
  }
  const used = await atOnce();
  expect(used.filter((connection) => connection !== young && old.has(connection))).toEqual([]);
});
