import { describe, expect, it } from "vitest";
import { type Field, valuesOf } from "../helpers/http-bytes.js";
import { answer, chunk, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { startUpstream } from "../helpers/upstream.js";

const SMUGGLED = "POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
const post = (fields: string, body = ""): string =>
  `POST /verify HTTP/1.1\r\nHost: gym.example\r\n${fields}\r\n\r\n${body}`;

// A25: two readings of one message; one client's bytes must never become another's verify.
const AMBIGUOUS: readonly (readonly [name: string, bytes: string])[] = [
  ["a length and chunks", post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nX")],
  [
    "chunks and a length",
    post("Transfer-Encoding: chunked\r\nContent-Length: 6", `0\r\n\r\n${SMUGGLED}`),
  ],
  ["a coding with a vertical tab", post("Transfer-Encoding: \x0bchunked", "0\r\n\r\n")],
  ["chunked under identity", post("Transfer-Encoding: chunked, identity", "0\r\n\r\n")],
  ["an unknown coding", post("Transfer-Encoding: xchunked", "0\r\n\r\n")],
  [
    "chunked twice, the last unknown",
    post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x", "0\r\n\r\n"),
  ],
  ["lengths 3 and 6", post("Content-Length: 3\r\nContent-Length: 6", "abcdef")],
  ["a list of lengths", post("Content-Length: 6, 6", "abcdef")],
  ["a signed length", post("Content-Length: +6", "abcdef")],
  ["a length in hexadecimal", post("Content-Length: 0x6", "abcdef")],
  ["an empty length", post("Content-Length: ", "abcdef")],
  ["a space before the colon", post("Content-Length : 6", "abcdef")],
  [
    "a space before a name",
    post("X: 1\r\n Transfer-Encoding: chunked\r\nContent-Length : 6", "0\r\n\r\nX"),
  ],
  ["bare line feeds", "POST /verify HTTP/1.1\nHost: gym.example\nContent-Length: 0\n\n"],
  ["a bare line feed in the header", post("X: 1\nContent-Length: 2", "{}")],
  ["a bare carriage return in the header", post("X: 1\rContent-Length: 2", "{}")],
  ["NUL in a value", post("X: a\0b\r\nContent-Length: 2", "{}")],
  ["no chunk size", post("Transfer-Encoding: chunked", "\r\n0\r\n\r\n")],
  ["a signed chunk size", post("Transfer-Encoding: chunked", "+2\r\n{}\r\n0\r\n\r\n")],
  ["a chunk size with 0x", post("Transfer-Encoding: chunked", "0x2\r\n{}\r\n0\r\n\r\n")],
  ["a huge chunk size", post("Transfer-Encoding: chunked", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n")],
  ["two hosts in the first line", "POST /verify /x HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["HTTP/1.12 in the first line", "POST /verify HTTP/1.12\r\nHost: a\r\nContent-Length: 0\r\n\r\n"],
];

describe.each(MODES)("a request that can be read in two ways, in mode %s,", (mode) => {
  it.each(AMBIGUOUS)("is refused and ends its connection: %s", async (_, bytes) => {
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(bytes);
    const reply = await client.reply("POST");
    expect(reply.status).toBe(400);
    expect(valuesOf(reply.fields, "maskgate-verdict")).not.toEqual(["masked"]);
    await client.incoming.ended;
    expect(client.incoming.length).toBe(0);
    expect(upstream.requests.filter(({ whole }) => whole)).toEqual([]);
    expect((await rawRequest(proxy.url, verify())).text).toBe(SCORED);
    expect(upstream.requests.filter(({ whole }) => whole)).toHaveLength(1);
  });

  it.each(AMBIGUOUS.filter(([name]) => !name.includes("chunk size")))(
    "reaches the upstream with no byte: %s",
    async (_, bytes) => {
      const upstream = await startUpstream(answer(SCORED));
      const proxy = await startInMode(mode, upstream);
      await rawRequest(proxy.url, Buffer.from(bytes, "latin1"));
      expect(upstream.bytesIn).toBe(0);
    },
  );
});

// http-proxy-3 1.23.3 gave a chunked DELETE or OPTIONS `content-length: 0` and sent its body behind it.
describe("a chunked request", () => {
  it.each(["DELETE", "OPTIONS", "GET", "POST", "PUT", "PATCH", "QUERY"])(
    "keeps its framing as %s",
    async (method) => {
      const headers: readonly Field[] = [["Transfer-Encoding", "chunked"]];
      const bytes = Buffer.concat([
        request(method, "/mcp", { headers }),
        chunk(SMUGGLED),
        Buffer.from("0\r\n\r\n"),
      ]);
      const { reply, upstream, proxy } = await through(answer("{}"), bytes);
      expect(reply.status).toBe(200);
      expect((await rawRequest(proxy.url, request("GET", "/next"))).status).toBe(200);
      expect(upstream.requests.map((received) => received.line)).toEqual([
        `${method} /mcp HTTP/1.1`,
        "GET /next HTTP/1.1",
      ]);
      const [received] = upstream.requests;
      expect(received?.body.toString()).toBe(SMUGGLED);
      expect(valuesOf(received?.fields ?? [], "transfer-encoding")).toEqual(["chunked"]);
      expect(valuesOf(received?.fields ?? [], "content-length")).toEqual([]);
    },
  );

  it.each(["DELETE", "OPTIONS", "GET"])("with a length keeps that as %s", async (method) => {
    const { reply, upstream } = await through(
      answer("{}"),
      request(method, "/mcp", { body: SMUGGLED }),
    );
    expect(reply.status).toBe(200);
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual([SMUGGLED]);
    expect(valuesOf(upstream.requests[0]?.fields ?? [], "content-length")).toEqual([
      String(SMUGGLED.length),
    ]);
  });
});

describe("an offer to upgrade", () => {
  it.each([
    [
      "h2c",
      [
        ["Upgrade", "h2c"],
        ["HTTP2-Settings", "AAMAAABkAAQCAAAAAAIAAAAA"],
        ["Connection", "Upgrade, HTTP2-Settings"],
      ],
    ],
    [
      "websocket",
      [
        ["Upgrade", "websocket"],
        ["Connection", "Upgrade"],
      ],
    ],
    [
      "TLS",
      [
        ["Upgrade", "TLS/1.0"],
        ["Connection", "upgrade"],
      ],
    ],
    [
      "two protocols",
      [
        ["Upgrade", "websocket, h2c"],
        ["Connection", "keep-alive, Upgrade"],
      ],
    ],
  ] as const)("(%s) on a verify does not lead around the mask", async (_, fields) => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    client.write(verify(fields));
    const reply = await client.reply("POST");
    expect(reply.status).toBe(503);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["masked"]);
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['{"id":1}']);
    expect(valuesOf(upstream.requests[0]?.fields ?? [], "upgrade")).toEqual([]);
    // What follows on the same connection is judged as well.
    client.write(verify());
    expect((await client.reply("POST")).status).toBe(503);
  });

  it("on a verify in pieces does not lead around the mask", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    const bytes = verify([
      ["Upgrade", "h2c"],
      ["Connection", "Upgrade"],
    ]);
    client.write(bytes.subarray(0, -4));
    const exchange = await upstream.arrived();
    await exchange.has(4);
    client.write(bytes.subarray(-4));
    expect((await client.reply("POST")).status).toBe(503);
  });
});

describe.each(MODES)("an answer that can be read in two ways, in mode %s,", (mode) => {
  it.each([
    [
      "a length and chunks",
      `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["two lengths", `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}   {`],
    ["no length that is one", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}"],
    ["nothing of HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["a bare line feed", "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}"],
  ])("is 502, and the next request gets its own: %s", async (_, bytes) => {
    const upstream = await startUpstream(async ({ received, whole, end, write }) => {
      await whole;
      if (received.target === "/next") write(answer('"next"'));
      else end(bytes);
    });
    const proxy = await startInMode(mode, upstream);
    const reply = await rawRequest(proxy.url, verify());
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
    const next = await rawRequest(proxy.url, request("GET", "/next"));
    expect(next.text).toBe('"next"');
    expect(upstream.requests).toHaveLength(2);
  });

  it("gives the next request nothing of what stands behind it", async () => {
    const upstream = await startUpstream(async ({ received, whole, write }) => {
      await whole;
      const own = answer(`"${received.target}"`);
      write(received.target === "/next" ? own : Buffer.concat([own, answer('"nobody"')]));
    });
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    for (const target of ["/a", "/next", "/b", "/next"]) {
      client.write(request("GET", target));
      const reply = await client.reply();
      expect([`"${target}"`, 502]).toContain(reply.status === 502 ? 502 : reply.text);
      if (target === "/next") expect(reply.text).toBe('"/next"');
    }
  });
});
