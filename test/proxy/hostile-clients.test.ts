import { describe, expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startConfigured } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

describe.each(MODES)("in mode %s", (mode) => {
  it("four hundred clients that never finish a header or a body hold up nobody", async () => {
    const upstream = await startUpstream(async ({ whole, write }) => {
      await whole;
      write(answer(SCORED));
    });
    const proxy = await startInMode(mode, upstream);
    const half = request("POST", "/verify", { headers: [["Content-Length", "10"]] });
    const slow = await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        const client = await openClient(proxy.url);
        client.write(n % 2 === 0 ? half.subarray(0, 20) : half);
        return client;
      }),
    );
    for (let round = 0; round < 20; round += 1) {
      for (const client of slow.slice(round * 10, round * 10 + 10)) client.write("x");
      expect((await rawRequest(proxy.url, verify())).text).toBe(SCORED);
    }
  });

  it.each([
    ["//other.example/verify"],
    ["http://other.example/verify"],
    ["http://127.0.0.1:1/verify"],
    ["https://other.example:443/verify"],
    ["http://user:pass@other.example/verify"],
    ["http://[::1]:1/verify"],
  ])("no target leads to another host than the upstream: %s", async (target) => {
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startInMode(mode, upstream);
    const bytes = request("POST", target, { body: "{}", headers: [["Host", "third.example"]] });
    expect((await rawRequest(proxy.url, bytes)).text).toBe(SCORED);
    expect(upstream.requests.map(({ line }) => line)).toEqual([`POST ${target} HTTP/1.1`]);
    expect(valuesOf(upstream.requests[0]!.fields, "host")).toEqual(["third.example"]);
  });

  it.each([
    ["a field that names Host away", [["Connection", "host, content-length"]]],
    ["a field that names cookies away", [["Connection", "close, cookie, transfer-encoding"]]],
    ["another host by a field", [["X-Forwarded-Host", "other.example"]]],
    ["another path by a field", [["X-Original-URL", "/other"]]],
    ["another method by a field", [["X-HTTP-Method-Override", "GET"]]],
    ["a verdict of its own", [["maskgate-verdict", "scored"]]],
    ["an expectation that nobody knows", [["Expect", "a-miracle"]]],
  ] as const)("no field of a client unmakes the mask: %s", async (_, headers) => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startInMode(mode, upstream);
    const reply = await rawRequest(proxy.url, verify(headers));
    expect(reply.status).toBe(mode === "strict" ? 503 : 200);
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['{"id":1}']);
    expect(valuesOf(upstream.requests[0]!.fields, "host")).toHaveLength(1);
  });

  it.each([
    ["a header that never ends", `GET / HTTP/1.1\r\nHost: x\r\n${"X: y\r\n".repeat(70_000)}`, 431],
    ["a target that never ends", `GET /${"a".repeat(70_000)}`, 431],
    ["a name of 70 kB", `GET / HTTP/1.1\r\n${"a".repeat(70_000)}`, 431],
    ["a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["HTTP/2 without an upgrade", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["a NUL in the target", "GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a NUL in a value", "GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", 400],
    ["an unknown method", "GETT / HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    [
      "a chunk of a negative size",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
      400,
    ],
  ])("what is no request is refused and ends its connection: %s", async (_, bytes, status) => {
    const upstream = await startUpstream(answer("{}"));
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(bytes);
    await client.incoming.ended;
    const text = client.incoming.bytes.toString("latin1");
    // A request whose body alone is broken may have been answered already.
    expect(text === "" || text.startsWith(`HTTP/1.1 ${status} `) || _.startsWith("a chunk")).toBe(
      true,
    );
    expect((await rawRequest(proxy.url, request("GET", "/"))).status).toBe(200);
  });
});

describe("a prefix route that is strict", () => {
  const YAML = `routes:
  - {name: s, match: {pathPrefix: /s}, mode: strict}
  - {name: __proto__, match: {header: {constructor: toString}}, mode: strict, status: 599}
`;

  // Whatever the client writes: what reaches the server as a verify under the route's prefix is judged, and nothing else loses its prefix.
  it.each([
    ["/s/verify", "/verify", 503],
    ["/s/verify%0a", "/verify%0a", 503],
    ["/s/%76erify", "/%76erify", 503],
    ["/s/verify#/x", "/verify#/x", 503],
    ["/s?/verify", "/?/verify", 200],
    ["/s/../verify", "/../verify", 200],
    ["/s/%2e%2e/verify", "/%2e%2e/verify", 200],
    ["/s//verify", "//verify", 200],
    ["/s/s/verify", "/s/verify", 200],
    ["/s%2fverify", "/s%2fverify", 200],
    ["/s;/verify", "/s;/verify", 200],
    ["/%73/verify", "/%73/verify", 200],
    ["/s/verify%00", "/verify%00", 200],
    ["/s/%c0%afverify", "/%c0%afverify", 200],
    ["http://s/verify", "http://s/verify", 200],
    ["http://h/s/verify", "http://h/verify", 503],
  ])("%s reaches the server as %s and gets %i", async (target, forwarded, status) => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startConfigured(upstream, YAML);
    const reply = await rawRequest(proxy.url, request("POST", target, { body: "{}" }));
    expect(reply.status).toBe(status);
    expect(upstream.requests.map(({ target: came }) => came)).toEqual([forwarded]);
  });

  it("is chosen by names that every object has only where the client sends them", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startConfigured(upstream, YAML);
    expect((await rawRequest(proxy.url, verify())).status).toBe(200);
    expect((await rawRequest(proxy.url, verify([["constructor", "toString"]]))).status).toBe(599);
  });
});
