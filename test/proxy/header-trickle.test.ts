import { setInterval } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient, type RawClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const TRICKLE_MS = 20;

// The limit is 80 s, so that no client's pause between two requests counts as a slow header; here it is 0.8 s.
vi.mock(import("../../src/proxy/limits.js"), async (load) => ({
  ...(await load()),
  CLIENT_HEADER_MS: 800,
}));

/** Sends one byte after the other, as long as there are any and the other side is there. */
async function trickle(client: RawClient, bytes: Iterable<number>): Promise<void> {
  const rest = bytes[Symbol.iterator]();
  for await (const _ of setInterval(TRICKLE_MS)) {
    const next = rest.next();
    if (next.done === true || client.incoming.ending !== undefined) return;
    client.write(Uint8Array.of(next.value));
  }
}

function* endlessHeader(): Generator<number> {
  yield* Buffer.from("POST /verify HTTP/1.1\r\nHost: gym\r\nX-Slow: ");
  for (;;) yield 0x78;
}

it.each(MODES)("ends a client that sends its header by single bytes, in mode %s", async (mode) => {
  const upstream = await startUpstream(answer(SCORED));
  const proxy = await startInMode(mode, upstream);
  const first = await openClient(proxy.url);
  const second = await openClient(proxy.url);
  second.write(verify());
  expect((await second.reply("POST")).text).toBe(SCORED);
  const trickles = [first, second].map((client) => trickle(client, endlessHeader()));
  for (const client of [first, second]) {
    const reply = await client.reply("POST");
    expect(reply.status).toBe(408);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["refused"]);
    await client.incoming.ended;
  }
  await Promise.all(trickles);
  expect(upstream.requests).toHaveLength(1);
});

it.each(MODES)(
  "waits for a body that comes by single bytes for longer than that, in mode %s",
  async (mode) => {
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startInMode(mode, upstream);
    const slow = await openClient(proxy.url);
    const ended = await openClient(proxy.url);
    const body = "x".repeat(60);
    slow.write(
      request("POST", "/verify", { headers: [["Content-Length", "61"]], body }).subarray(0, -60),
    );
    const sending = trickle(slow, Buffer.from(body));
    // One that sends no more than half a header shows that the limit has passed.
    ended.write("POST /verify HTTP/1.1\r\nHost");
    expect((await ended.reply("POST")).status).toBe(408);
    await sending;
    slow.write("x");
    expect((await slow.reply("POST")).text).toBe(SCORED);
  },
);
