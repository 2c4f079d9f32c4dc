import { setTimeout as passes } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { answer, SCORED, verify } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

// A04: an upstream that closes idle connections must cost no client an error, and no verify may run twice.
describe("a connection that the upstream closes while it is idle", () => {
  it.each([true, false])("is never used again (strict: %s)", async (maskedAsError) => {
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    for (let round = 1; round <= 50; round += 1) {
      client.write(verify());
      expect((await client.reply("POST")).status).toBe(200);
      upstream.dropIdle();
      await upstream.quiet();
    }
    expect(upstream.requests).toHaveLength(50);
  });

  // The worst moment: the request is on its way into the proxy when the upstream closes, and both are found in one turn of the event loop.
  it("at the very moment of the next request costs nothing", async () => {
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    client.write(verify());
    await client.reply("POST");
    for (let round = 2; round <= 50; round += 1) {
      client.write(verify());
      upstream.dropIdle();
      expect((await client.reply("POST")).status, `round ${round}`).toBe(200);
    }
    expect(upstream.requests).toHaveLength(50);
  });

  // The real clock, as uvicorn's: the pool must give a connection up well before the server does, whatever the phase.
  it("after 1.0 s costs no client of thirty an error around that time", async () => {
    const timers = new Map<number, NodeJS.Timeout>();
    const upstream = await startUpstream(async ({ received, whole, write, end }) => {
      clearTimeout(timers.get(received.connection));
      await whole;
      write(answer(SCORED));
      timers.set(received.connection, setTimeout(end, 1000));
    });
    const proxy = await startProxy(upstream);
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        const client = await openClient(proxy.url);
        const seen: number[] = [];
        for (let round = 0; round < 5; round += 1) {
          client.write(verify());
          seen.push((await client.reply("POST")).status);
          await passes(985 + (i * 25) / 30);
        }
        return seen;
      }),
    );
    for (const timer of timers.values()) clearTimeout(timer);
    expect(statuses.flat().filter((status) => status !== 200)).toEqual([]);
    expect(upstream.requests).toHaveLength(150);
  });
});

it("uses one connection for requests that follow each other at once", async () => {
  const upstream = await startUpstream(answer(SCORED));
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  for (let round = 0; round < 20; round += 1) {
    client.write(verify());
    await client.reply("POST");
  }
  expect(upstream.opened).toBe(1);
});

it("gives up a connection whose server announces a short life, before that life ends", async () => {
  const upstream = await startUpstream(answer(SCORED, { headers: [["Keep-Alive", "timeout=1"]] }));
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(verify());
  await client.reply("POST");
  await upstream.quiet();
  client.write(verify());
  expect((await client.reply("POST")).status).toBe(200);
});

// A25's kind: what an upstream says unasked belongs to nobody.
it("never hands bytes that came unasked to the next request, which takes another connection", async () => {
  const upstream = await startUpstream(async ({ received, whole, write }) => {
    await whole;
    write(answer(`"${received.target} ${upstream.requests.length}"`));
  });
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(verify());
  expect((await client.reply("POST")).text).toBe('"/verify 1"');
  const { write, flushed } = await upstream.arrived(1);
  write(answer('{"reward":1,"whose":"nobody"}'));
  await flushed();
  client.write(verify());
  expect((await client.reply("POST")).text).toBe('"/verify 2"');
  expect(upstream.requests.map(({ connection }) => connection)).toEqual([0, 1]);
});
