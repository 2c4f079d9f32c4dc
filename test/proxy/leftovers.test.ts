import { expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import {
  answer,
  chunkedAnswer,
  MASKED,
  maskedFor,
  request,
  SCORED,
  verify,
} from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const OF_THE_OLD_BODY = [
  ["ETag", '"abc"'],
  ["Content-MD5", "Q2hlY2sgSW50ZWdyaXR5IQ=="],
  ["Content-Digest", "sha-256=:AAAA:"],
  ["Repr-Digest", "sha-256=:AAAA:"],
  ["Digest", "sha-256=AAAA"],
  ["Last-Modified", "Mon, 30 Nov 2026 00:00:00 GMT"],
  ["Expires", "Tue, 01 Dec 2026 00:00:00 GMT"],
  ["Cache-Control", "public, max-age=60"],
  ["Content-Language", "en"],
  ["Accept-Ranges", "bytes"],
] as const;

const KEPT = [
  ["Date", "Mon, 30 Nov 2026 00:00:00 GMT"],
  ["X-Trace", "1"],
  ["Set-Cookie", "a=1"],
  ["x-trace", "2"],
] as const;

// A17: what described the old body must not describe the new one, and the connection stays in step.
it.each([
  [
    "longer than the error",
    answer(maskedFor("x", { pad: "p".repeat(9000) }), { headers: [...OF_THE_OLD_BODY, ...KEPT] }),
  ],
  [
    "shorter than the error",
    answer('{"mask_sample":1}', { headers: [...OF_THE_OLD_BODY, ...KEPT] }),
  ],
  [
    "in chunks",
    chunkedAnswer([MASKED.slice(0, 40), MASKED.slice(40)], [...OF_THE_OLD_BODY, ...KEPT]),
  ],
])("drops what described a masked answer %s, and keeps the connection", async (_, bytes) => {
  const upstream = await startUpstream(async ({ received, whole, write }) => {
    await whole;
    write(received.target === "/verify" ? bytes : answer('"next"'));
  });
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(verify());
  const reply = await client.reply("POST");
  expect(reply.status).toBe(503);
  expect(valuesOf(reply.fields, "content-length")).toEqual([String(reply.body.length)]);
  expect(valuesOf(reply.fields, "transfer-encoding")).toEqual([]);
  expect(valuesOf(reply.fields, "cache-control")).toEqual(["no-store"]);
  expect(valuesOf(reply.fields, "content-type")).toEqual(["application/problem+json"]);
  for (const [name] of OF_THE_OLD_BODY.filter(([n]) => n !== "Cache-Control")) {
    expect(valuesOf(reply.fields, name), name).toEqual([]);
  }
  const names = KEPT.map(([name]) => name.toLowerCase());
  expect(reply.fields.filter(([name]) => names.includes(name.toLowerCase()))).toEqual(KEPT);

  client.write(request("GET", "/next"));
  expect((await client.reply()).text).toBe('"next"');
  client.write(verify());
  expect((await client.reply("POST")).status).toBe(503);
  expect(client.incoming.length).toBe(0);
});

// Node 22.23.5 and 24.21.0 send the last chunk of a corked reply before the others when it is ended while corked:
// the rest of one rollout's answer would then be the beginning of the next one's.
it("keeps the connection in step after a scored answer in many chunks", async () => {
  const bytes = chunkedAnswer(Array.from(SCORED));
  const upstream = await startUpstream(bytes);
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  for (let round = 0; round < 3; round += 1) {
    client.write(verify());
    expect((await client.reply("POST")).text).toBe(SCORED);
    expect(client.incoming.length).toBe(0);
  }
});

it("answers pipelined requests in order, a masked one between two others", async () => {
  const upstream = await startUpstream(async ({ received, whole, write }) => {
    await whole;
    write(received.target === "/verify" ? answer(MASKED) : answer(`"${received.target}"`));
  });
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(Buffer.concat([request("GET", "/a"), verify(), request("GET", "/b")]));
  expect((await client.reply()).text).toBe('"/a"');
  expect((await client.reply("POST")).status).toBe(503);
  expect((await client.reply()).text).toBe('"/b"');
});
