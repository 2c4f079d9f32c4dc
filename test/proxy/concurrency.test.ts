import { expect, it } from "vitest";
import { answer, maskedFor, request } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const COUNT = 200;

/** Every second answer is masked; each names its request. */
const bodyOf = (target: string, index: number): string =>
  index % 2 === 0 ? maskedFor(target) : JSON.stringify({ reward: 1, target });

// A reward that goes to the wrong rollout trains silently: many in flight, answered in the opposite order, twice on the same connections.
it("gives every one of 200 clients its own answer", async () => {
  const upstream = await startUpstream(() => undefined);
  const proxy = await startProxy(upstream);
  const clients = await Promise.all(
    Array.from({ length: COUNT }, async () => openClient(proxy.url)),
  );
  for (const round of [0, 1]) {
    for (const [index, client] of clients.entries()) {
      client.write(request("POST", `/verify?${round}-${index}`, { body: `"${index}"` }));
    }
    const exchanges = await Promise.all(
      clients.map(async (_, index) => upstream.arrived(round * COUNT + index + 1)),
    );
    for (const { received, write } of exchanges.toReversed()) {
      write(answer(bodyOf(received.target, Number(received.target.split("-")[1]))));
    }
    for (const [index, client] of clients.entries()) {
      const reply = await client.reply("POST");
      const target = `/verify?${round}-${index}`;
      expect(reply.status).toBe(index % 2 === 0 ? 503 : 200);
      if (index % 2 === 0) expect(JSON.parse(reply.text)).toMatchObject({ detail: target });
      else expect(reply.text).toBe(bodyOf(target, index));
    }
  }
  expect(upstream.requests).toHaveLength(2 * COUNT);
  expect(new Set(upstream.requests.map(({ target }) => target)).size).toBe(2 * COUNT);
});

// All connections to the upstream are read into the same memory.
it("keeps what it holds of one answer while it reads another", async () => {
  const upstream = await startUpstream(() => undefined);
  const proxy = await startProxy(upstream);
  const held = answer(JSON.stringify({ text: "a".repeat(50_000), mask_sample: false }));
  const other = answer(JSON.stringify({ text: "b".repeat(200_000), mask_sample: false }));
  const first = await openClient(proxy.url);
  first.write(request("POST", "/verify", { body: "1" }));
  const waiting = await upstream.arrived(1);
  waiting.write(held.subarray(0, -10));
  const second = await openClient(proxy.url);
  second.write(request("POST", "/verify", { body: "2" }));
  (await upstream.arrived(2)).write(other);
  expect((await second.reply("POST")).text).toBe(other.toString().split("\r\n\r\n")[1]);
  waiting.write(held.subarray(-10));
  expect((await first.reply("POST")).text).toBe(held.toString().split("\r\n\r\n")[1]);
});
