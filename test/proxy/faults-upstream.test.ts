import { describe, expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, chunk, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, type RouteMode, startInMode } from "../helpers/modes.js";
import { openClient, rawRequest, type Reply } from "../helpers/raw-client.js";
import { freePort, type Script, startUpstream } from "../helpers/upstream.js";

function expectBadGateway(reply: Reply): void {
  expect(reply.status).toBe(502);
  expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
  expect(reply.complete).toBe(true);
}

/** Bytes, and how the connection ends once the client's side has them. */
const sends =
  (bytes: string | Uint8Array, how: "end" | "reset"): Script =>
  async (exchange) => {
    await exchange.whole;
    exchange.write(bytes);
    await exchange.flushed();
    exchange[how]();
  };

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

const BEFORE_THE_HEADER_ENDS: readonly (readonly [string, Script])[] = [
  ["a reset before it", sends("", "reset")],
  ["an end before it", sends("", "end")],
  ["a reset in it", sends("HTTP/1.1 200 OK\r\ncontent-le", "reset")],
  ["an end in it", sends("HTTP/1.1 200 OK\r\ncontent-le", "end")],
  ["garbage", sends("\x00\xff\x16\x03\x01 garbage\r\n\r\n", "end")],
  ["another protocol", sends("SSH-2.0-OpenSSH_9.9\r\n", "end")],
  ["an answer of HTTP/2", sends("HTTP/2 200 OK\r\n\r\n", "end")],
  ["a status of two digits", sends("HTTP/1.1 20 OK\r\n\r\n", "end")],
  [
    "a switch to a protocol that nobody asked for",
    sends("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", "end"),
  ],
  [
    "a header over 64 KiB",
    sends(answer(SCORED, { headers: [["X-Big", "x".repeat(66_000)]] }), "end"),
  ],
  [
    "two lengths",
    sends(
      answer(SCORED, {
        headers: [
          ["content-length", "3"],
          ["content-length", "4"],
        ],
        length: false,
      }),
      "end",
    ),
  ],
];

const BEHIND_THE_HEADER: readonly (readonly [string, Script])[] = [
  ["a reset right behind the header", sends(answer(SCORED).subarray(0, -SCORED.length), "reset")],
  [
    "a reset together with a body that would end with its connection",
    async ({ whole, write, reset }) => {
      await whole;
      write(answer(MASKED, { length: false }));
      reset();
    },
  ],
  ["an end inside the length", sends(answer(MASKED).subarray(0, -1), "end")],
  ["a reset inside the length", sends(answer(MASKED).subarray(0, -1), "reset")],
  ["an end without a last chunk", sends(CHUNKED + chunk(MASKED).toString("latin1"), "end")],
  ["a reset inside a chunk", sends(`${CHUNKED}fff\r\n${MASKED}`, "reset")],
  ["a chunk size that is none", sends(`${CHUNKED}zz\r\n`, "end")],
];

describe.each(MODES)("in mode %s", (mode: RouteMode) => {
  it.each(BEFORE_THE_HEADER_ENDS)("a header that does not come is 502: %s", async (_, script) => {
    const upstream = await startUpstream(script);
    const proxy = await startInMode(mode, upstream);
    expectBadGateway(await rawRequest(proxy.url, verify()));
    expect(upstream.requests).toHaveLength(1);
    expect(proxy.logged("upstream_error")).toHaveLength(1);
  });

  it.each(BEHIND_THE_HEADER)("a body that is cut is never whole: %s", async (_, script) => {
    const upstream = await startUpstream(script);
    const proxy = await startInMode(mode, upstream);
    const reply = await rawRequest(proxy.url, verify());
    // Where nothing had left yet, the client is told: never a bare close.
    if (mode === "strict" || reply.status === 502) expectBadGateway(reply);
    else expect(reply).toMatchObject({ status: 200, complete: false });
    expect(upstream.requests).toHaveLength(1);
    expect(proxy.logged("let_through")).toEqual([]);
    expect(proxy.logged("upstream_error")).toHaveLength(1);
  });

  it("an answer that falls silent half-way holds up nobody else, and ends with its client", async () => {
    const upstream = await startUpstream(async ({ received, whole, write }) => {
      await whole;
      write(received.target === "/verify" ? answer(MASKED).subarray(0, -9) : answer("{}"));
    });
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(verify());
    const { gone } = await upstream.arrived();
    for (let round = 0; round < 5; round += 1) {
      expect((await rawRequest(proxy.url, request("GET", "/other"))).status).toBe(200);
    }
    client.reset();
    await gone;
    expect(await proxy.nextLog("client_gone")).toMatchObject({ status: 499 });
  });

  it("a hundred interim answers come before the answer", async () => {
    const interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    const upstream = await startUpstream(
      Buffer.concat([Buffer.from(interim.repeat(50)), answer(MASKED)]),
    );
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    for (let round = 0; round < 2; round += 1) {
      client.write(verify());
      expect((await client.reply("POST")).status).toBe(mode === "strict" ? 503 : 200);
    }
  });

  it("trailers of an answer are never merged into its fields", async () => {
    const bytes = `${CHUNKED}${chunk(SCORED).toString()}0\r\nX-Late: 1\r\nmask_sample: true\r\n\r\n`;
    const upstream = await startUpstream(bytes);
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    for (let round = 0; round < 2; round += 1) {
      client.write(verify());
      const reply = await client.reply("POST");
      expect(reply.text).toBe(SCORED);
      expect(valuesOf(reply.fields, "x-late")).toEqual([]);
    }
  });

  it("a restart under load delivers nothing twice, and what comes after it is served", async () => {
    const port = await freePort();
    const script: Script = async ({ whole, write }) => {
      await whole;
      write(answer(SCORED));
    };
    let upstream = await startUpstream(script, { port });
    const proxy = await startInMode(mode, upstream);
    const delivered: string[] = [];
    const statuses: number[] = [];
    const over = new AbortController();
    const client = async (name: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n += 1) {
        const bytes = request("POST", `/verify?${name}-${n}`, { body: "{}" });
        statuses.push((await rawRequest(proxy.url, bytes)).status);
      }
    };
    const clients = Promise.all(Array.from({ length: 20 }, async (_, name) => client(name)));
    const restarts = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await upstream.arrived(100);
        await upstream.close();
        delivered.push(...upstream.requests.map(({ target }) => target));
        upstream = await startUpstream(script, { port });
        expect((await rawRequest(proxy.url, verify())).status).toBe(200);
      }
    };
    try {
      await Promise.race([restarts(), clients]);
    } finally {
      over.abort();
    }
    await clients;
    delivered.push(...upstream.requests.map(({ target }) => target));
    const unique = new Set(delivered.filter((target) => target.includes("?")));
    expect(unique.size).toBe(delivered.filter((target) => target.includes("?")).length);
    expect(new Set([...statuses, 502])).toEqual(new Set([200, 502]));
    expect(statuses.filter((status) => status === 502).length).toBeLessThanOrEqual(60);
  });
});
