import { expect, it } from "vitest";
import { answer, request, SCORED } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream, type Upstream } from "../helpers/upstream.js";

/** An upstream that ends a connection which has been idle for this long, and says nothing of it in its header. */
async function startImpatient(idleMs: number): Promise<Upstream> {
  const timers = new Map<number, NodeJS.Timeout>();
  return startUpstream(async ({ received, whole, write, end }) => {
    clearTimeout(timers.get(received.connection));
    await whole;
    write(answer(SCORED));
    timers.set(received.connection, setTimeout(end, idleMs));
  });
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
