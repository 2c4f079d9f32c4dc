import { describe, expect, it } from "vitest";
import {
  answer,
  chunk,
  chunkedAnswer,
  MASKED,
  request,
  SCORED,
  verify,
} from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { askMeanwhile, openClient } from "../helpers/raw-client.js";
import { type Exchange, startUpstream } from "../helpers/upstream.js";

/** Sends all but the last byte of `bytes`, and gives what sends that one. */
async function allButTheLast({ write, flushed }: Exchange, bytes: Buffer): Promise<() => void> {
  write(bytes.subarray(0, -1));
  await flushed();
  return () => write(bytes.subarray(-1));
}

describe("a strict client", () => {
  it.each([
    ["a masked answer", answer(MASKED), 503],
    ["a scored answer", answer(SCORED), 200],
    ["a masked answer in chunks", chunkedAnswer([MASKED]), 503],
    ["a scored answer in chunks", chunkedAnswer([SCORED]), 200],
  ])("sees no byte of %s before its last byte", async (_, bytes, status) => {
    const upstream = await startUpstream(({ received, write }) => {
      if (received.target === "/other") write(answer("{}"));
    });
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    client.write(verify());
    const finish = await allButTheLast(await upstream.arrived(1), bytes);
    await askMeanwhile(proxy.url, 3, request("GET", "/other"));
    expect(client.incoming.length).toBe(0);
    finish();
    expect((await client.reply("POST")).status).toBe(status);
  });
});

describe("a client of a passthrough route", () => {
  it("sees each part of a verify answer as it comes", async () => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startProxy(upstream, { maskedAsError: false });
    const client = await openClient(proxy.url);
    client.write(verify());
    const { write } = await upstream.arrived();
    write("HTTP/1.1 200 OK\r\nX-First: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
    await client.sees("X-First: 1\r\n");
    write(chunk(MASKED.slice(0, 20)));
    await client.sees(MASKED.slice(0, 20));
    write(Buffer.concat([chunk(MASKED.slice(20)), chunk("!")]));
    await client.sees("!");
    write("0\r\n\r\n");
    expect((await client.reply("POST")).text).toBe(`${MASKED}!`);
  });
});

it.each([true, false])(
  "passes each part of a request as it comes (strict: %s)",
  async (maskedAsError) => {
    const upstream = await startUpstream(async ({ whole, write }) => {
      await whole;
      write(answer(SCORED));
    });
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    const head = request("POST", "/verify", { headers: [["Content-Length", "10"]] });
    client.write(Buffer.concat([head, Buffer.from("01234")]));
    const exchange = await upstream.arrived();
    await exchange.has(5);
    expect(exchange.received.whole).toBe(false);
    client.write("56789");
    expect((await exchange.whole).body.toString()).toBe("0123456789");
    expect((await client.reply("POST")).text).toBe(SCORED);
  },
);
