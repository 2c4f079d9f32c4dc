import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { endToEnd, type Field, valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { startUpstream } from "../helpers/upstream.js";

// A21: what belongs to one hop stops; the rest keeps order, count and case.
const REQUEST: readonly Field[] = [
  ["hOsT", "gym.example:8123"],
  ["Connection", "keep-alive, X-Foo"],
  ["X-Dup", "1"],
  ["X-Foo", "1"],
  ["Proxy-Connection", "keep-alive"],
  ["x-dup", "2"],
  ["TE", "trailers"],
  ["Keep-Alive", "timeout=5"],
  ["X-NeMo-Gym-Session-Token", "t0ken"],
  ["X-DUP", ""],
  ["accept", "*/*"],
  ["Accept", "text/html"],
  ["User-Agent", "python-httpx/0.28.1"],
  ["Authorization", "Bearer x"],
  ["Via", "1.1 x"],
  ["X-Forwarded-For", "10.1.2.3"],
  ["Content-Type", "application/json"],
  ["X-Inner  Space".replace("  ", "-"), "a  b\tc"],
  ["Content-Length", "2"],
];

const ANSWER: readonly Field[] = [
  ["date", "Mon, 30 Nov 2026 00:00:00 GMT"],
  ["Connection", "close, x-hop"],
  ["X-Hop", "1"],
  ["Keep-Alive", "timeout=1"],
  ["Vary", "Cookie"],
  ["vary", "Accept"],
  ["X-MixedCase", "Aa"],
  ["Proxy-Connection", "close"],
  ["X-Empty", ""],
  ["WWW-Authenticate", "Basic"],
  ["www-authenticate", "Bearer"],
  ["Via", "1.1 y"],
];

describe.each([true, false])("with strict mode %s", (maskedAsError) => {
  it("passes a request's end-to-end fields only, as they stood, and adds none", async () => {
    const bytes = request("POST", "/verify", { headers: REQUEST, body: "{}" });
    const { upstream } = await through(answer(SCORED), bytes, { maskedAsError });
    const [received] = upstream.requests;
    expect(endToEnd(received?.fields ?? [])).toEqual(endToEnd(REQUEST));
    for (const name of ["proxy-connection", "te", "x-foo"]) {
      expect(valuesOf(received?.fields ?? [], name), name).toEqual([]);
    }
    expect(valuesOf(received?.fields ?? [], "keep-alive")).not.toContain("timeout=5");
  });

  it("passes an answer's end-to-end fields only, as they stood, and adds none", async () => {
    const bytes = answer(SCORED, { headers: ANSWER });
    const upstream = await startUpstream(bytes);
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    client.write(verify());
    const reply = await client.reply("POST");
    expect(endToEnd(reply.fields)).toEqual([
      ...endToEnd(ANSWER),
      ["content-type", "application/json"],
      ["content-length", String(SCORED.length)],
    ]);
    expect(valuesOf(reply.fields, "x-hop")).toEqual([]);
    expect(valuesOf(reply.fields, "connection").join()).not.toMatch(/close|x-hop/);
    expect(valuesOf(reply.fields, "keep-alive")).not.toContain("timeout=1");
    // The server's `close` is about its own connection: the client's stays.
    client.write(verify());
    expect((await client.reply("POST")).status).toBe(200);
  });

  it("passes a thousand fields", async () => {
    const many = Array.from({ length: 1000 }, (_, i): Field => [`X-${i}`, String(i)]);
    const bytes = answer(SCORED, { headers: many });
    const { reply, upstream } = await through(bytes, verify(many), { maskedAsError });
    expect(reply.fields.filter(([name]) => name.startsWith("X-"))).toEqual(many);
    const [received] = upstream.requests;
    expect(received?.fields.filter(([name]) => name.startsWith("X-"))).toEqual(many);
  });

  it("passes an empty reason phrase and an odd one as they are", async () => {
    for (const reason of ["", "Not  Quite (OK): 100%", "\xfcber"]) {
      const { reply } = await through(answer(SCORED, { reason }), verify(), { maskedAsError });
      expect(reply.reason).toBe(reason);
    }
  });
});

// RFC 9110 §7.6.1: Connection cannot name what is meant for all recipients of the content.
it.each([true, false])(
  "keeps the coding of a body that Connection names, with strict mode %s",
  async (maskedAsError) => {
    const bytes = gzipSync(SCORED);
    const headers: readonly Field[] = [
      ["Connection", "content-encoding, content-type"],
      ["Content-Encoding", "gzip"],
      ["Content-Type", "application/json"],
    ];
    const { reply } = await through(answer(bytes, { headers }), verify(), { maskedAsError });
    expect(endToEnd(reply.fields)).toEqual([
      ...headers.slice(1),
      ["content-length", String(bytes.length)],
    ]);
    expect(reply.body.equals(bytes)).toBe(true);
  },
);

it("stops an answer's hop-by-hop fields at the error too", async () => {
  const { reply } = await through(answer(MASKED, { headers: ANSWER }));
  expect(reply.status).toBe(503);
  expect(valuesOf(reply.fields, "x-hop")).toEqual([]);
  expect(valuesOf(reply.fields, "connection").join()).not.toMatch(/close|x-hop/);
  expect(valuesOf(reply.fields, "vary")).toEqual(["Cookie", "Accept"]);
  expect(valuesOf(reply.fields, "X-MixedCase")).toEqual(["Aa"]);
});

it("ends the client's connection when the client asks for it", async () => {
  const upstream = await startUpstream(answer(SCORED));
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(verify([["Connection", "close"]]));
  const reply = await client.reply("POST");
  expect(reply.text).toBe(SCORED);
  expect(await client.incoming.ended).toBe("fin");
});

it("never lets a Connection field take away what frames or addresses the message", async () => {
  const { reply, upstream } = await through(
    answer(SCORED),
    verify([["Connection", "close, Host, Content-Length, Content-Type"]]),
  );
  expect(reply.status).toBe(200);
  const [received] = upstream.requests;
  expect(valuesOf(received?.fields ?? [], "host")).toEqual(["gym.example:8123"]);
  expect(received?.body.toString()).toBe('{"id":1}');
});
