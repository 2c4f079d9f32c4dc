import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { endToEnd, type Field } from "../helpers/http-bytes.js";
import {
  answer,
  chunk,
  chunkedAnswer,
  MASKED,
  request,
  SCORED,
  verify,
} from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const OBSERVE = "routes: [{name: look, mode: observe}]";

const HEADERS: readonly Field[] = [
  ["date", "Mon, 30 Nov 2026 00:00:00 GMT"],
  ["X-MixedCase", "1"],
  ["Vary", "Cookie"],
  ["vary", "Accept"],
  ["ETag", '"1"'],
  ["set-cookie", "Gym___gym=eyJzIjoxfQ==.abc.def; path=/; httponly"],
  ["Set-Cookie", "b=2"],
];

const gzip = (text: string): Buffer => zlib.gzipSync(text);
const coded = (bytes: Buffer, coding = "gzip"): Buffer =>
  answer(bytes, { headers: [...HEADERS, ["Content-Encoding", coding]] });
const large = MASKED.replace("resp_1", "r".repeat(300_000));

const MASKED_ANSWERS: readonly (readonly [string, Buffer])[] = [
  ["with a length", answer(MASKED, { headers: HEADERS })],
  ["in chunks", chunkedAnswer([MASKED.slice(0, 9), MASKED.slice(9)], HEADERS)],
  ["in gzip", coded(gzip(MASKED))],
  ["in gzip, in chunks", chunkedAnswer([gzip(MASKED)], [["Content-Encoding", "gzip"]])],
  ["in gzip over br", coded(zlib.gzipSync(zlib.brotliCompressSync(MASKED)), "br, gzip")],
  ["large", answer(large, { headers: HEADERS })],
];

const OTHER_ANSWERS: readonly (readonly [string, Buffer])[] = [
  ["scored", answer(SCORED, { headers: HEADERS })],
  ["scored, in chunks", chunkedAnswer([SCORED])],
  ["scored, in gzip", coded(gzip(SCORED))],
  ["empty", answer("")],
  ["no object", answer("[1]")],
  ["no JSON", answer("{oops")],
  ["masked with 500", answer(MASKED, { status: 500, reason: "Oops" })],
  ["a 503 of the upstream's own", answer("{}", { status: 503, reason: "Masked: no" })],
];

const UNREADABLE: readonly (readonly [string, Buffer])[] = [
  ["in a coding that nobody knows", coded(gzip(MASKED), "x-unknown")],
  ["in damaged gzip", coded(gzip(MASKED).subarray(0, -9))],
  ["in UTF-16", answer(Buffer.from(MASKED, "utf16le"))],
];

/** Sends a verify past the proxy and through it, and holds what either side saw of the other to be the same. */
async function expectUnchanged(bytes: Buffer, headers: readonly Field[] = []): Promise<Proxy> {
  const upstream = await startUpstream(bytes);
  const proxy = await startConfigured(upstream, OBSERVE);
  const direct = await rawRequest(upstream.url, verify(headers));
  const reply = await rawRequest(proxy.url, verify(headers));
  expect(reply.line).toBe(direct.line);
  expect(endToEnd(reply.fields)).toEqual(endToEnd(direct.fields));
  expect(reply.body.equals(direct.body)).toBe(true);
  const [one, other] = upstream.requests;
  expect(other?.line).toBe(one?.line);
  expect(endToEnd(other?.fields ?? [])).toEqual(endToEnd(one?.fields ?? []));
  expect(other?.body).toEqual(one?.body);
  return proxy;
}

/** The lines of info and above, once `count` requests have been served and looked at. */
async function told(proxy: Proxy, count: number): Promise<unknown[]> {
  await proxy.nextLog("request", count);
  // What is left of judging is done before another verify has come and gone.
  await rawRequest(proxy.url, verify());
  await proxy.nextLog("request", count + 1);
  return proxy.logs.filter(({ level }) => Number(level) >= 30).map(({ event }) => event);
}

describe("on an observe route", () => {
  it.each(MASKED_ANSWERS)("a masked answer %s passes unchanged and is logged", async (_, bytes) => {
    const proxy = await expectUnchanged(bytes);
    const line = await proxy.nextLog("let_through");
    expect(line).toMatchObject({
      level: 30,
      route: "look",
      mode: "observe",
      status: 200,
      kind: "judge_failed",
      signal: "mask_sample",
      because: "route is not strict",
      verdict: "masked",
    });
    await rawRequest(proxy.url, verify());
    await proxy.nextLog("let_through", 2);
    expect(proxy.logged("translated")).toEqual([]);
    expect(proxy.logged("let_through")).toHaveLength(2);
  });

  it.each(OTHER_ANSWERS)(
    "an answer that is %s passes unchanged, without a line",
    async (_, bytes) => {
      const proxy = await expectUnchanged(bytes);
      expect(await told(proxy, 1)).toEqual([]);
    },
  );

  it.each(UNREADABLE)("a masked answer %s passes unchanged, with a warning", async (_, bytes) => {
    const proxy = await expectUnchanged(bytes);
    expect(await proxy.nextLog("uninspectable")).toMatchObject({
      level: 40,
      route: "look",
      code: "ANSWER_UNREADABLE",
    });
    expect(proxy.logged("let_through")).toEqual([]);
  });

  it.each(["gzip, x-unknown", "x-unknown;q=1, *", "identity;q=0, zstd", ""])(
    "the upstream is offered the client's own codings (%j)",
    async (codings) => {
      await expectUnchanged(answer(SCORED), [["Accept-Encoding", codings]]);
    },
  );

  it.each([
    ["a path that is no verify", request("POST", "/run", { body: "{}" })],
    ["another method", request("PUT", "/verify", { body: "{}" })],
  ])("an answer to %s is not looked at", async (_, bytes) => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startConfigured(upstream, OBSERVE);
    expect((await rawRequest(proxy.url, bytes)).text).toBe(MASKED);
    await proxy.nextLog("request");
    await rawRequest(proxy.url, verify());
    await proxy.nextLog("let_through");
    expect(proxy.logged("let_through").map(({ path }) => path)).toEqual(["/verify"]);
  });

  it("the client sees each part before the next is written, and the log follows the last", async () => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startConfigured(upstream, OBSERVE);
    const client = await openClient(proxy.url);
    client.write(verify());
    const { write } = await upstream.arrived();
    write("HTTP/1.1 200 OK\r\nX-First: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
    await client.sees("X-First: 1\r\n");
    for (const part of MASKED.match(/.{1,40}/gs) ?? []) {
      write(chunk(part));
      await client.sees(part);
      expect(proxy.logged("let_through")).toEqual([]);
    }
    write("0\r\n\r\n");
    expect((await client.reply("POST")).text).toBe(MASKED);
    await proxy.nextLog("let_through");
  });

  it.each([
    ["with a length", answer(MASKED).subarray(0, -1)],
    ["in chunks", chunkedAnswer([MASKED]).subarray(0, -5)],
  ])("an answer %s that is cut short is cut short for the client too", async (_, bytes) => {
    const upstream = await startUpstream(({ write }) => write(bytes));
    const proxy = await startConfigured(upstream, OBSERVE);
    const client = await openClient(proxy.url);
    client.write(verify());
    await client.sees("the judge is gone");
    (await upstream.arrived()).reset();
    expect(await client.incoming.ended).toBe("rst");
    expect(await proxy.nextLog("upstream_error")).toMatchObject({ code: "ANSWER_CUT_SHORT" });
    expect(proxy.logged("let_through")).toEqual([]);
  });

  it("a client that leaves in the middle ends the upstream's work, without a line", async () => {
    const upstream = await startUpstream(({ write }) => {
      write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
      write(MASKED);
    });
    const proxy = await startConfigured(upstream, OBSERVE);
    const client = await openClient(proxy.url);
    client.write(verify());
    await client.sees("the judge is gone");
    client.destroy();
    await (
      await upstream.arrived()
    ).gone;
    await proxy.nextLog("client_gone");
    expect(proxy.logged("let_through")).toEqual([]);
  });

  it("an answer that memory has no room for streams on and is not looked at", async () => {
    const upstream = await startUpstream(answer(large));
    const proxy = await startConfigured(upstream, `holdMemoryBytes: 100000\n${OBSERVE}`);
    expect((await rawRequest(proxy.url, verify())).text).toBe(large);
    expect(await proxy.nextLog("uninspectable")).toMatchObject({ code: "HOLD_FAILED" });
    expect(proxy.logged("let_through")).toEqual([]);
  });

  it("memory is given back after each answer, however it ended", async () => {
    const upstream = await startUpstream(async ({ whole, write, reset }) => {
      const cut = (await whole).body.toString() === "cut";
      write(cut ? answer(MASKED).subarray(0, -1) : answer(MASKED));
      if (cut) reset();
    });
    const proxy = await startConfigured(upstream, `holdMemoryBytes: ${MASKED.length}\n${OBSERVE}`);
    for (let n = 1; n <= 3; n += 1) {
      await rawRequest(proxy.url, verify());
      await proxy.nextLog("let_through", n);
      const client = await openClient(proxy.url);
      client.write(request("POST", "/verify", { body: "cut" }));
      await proxy.nextLog("upstream_error", n);
    }
    expect(proxy.logged("uninspectable")).toEqual([]);
  });

  it("signals of the route's own are seen", async () => {
    const body = '{"reward":0,"failure_reason":"browser session not found at verify"}';
    const proxy = await startConfigured(
      await startUpstream(answer(body)),
      "routes: [{name: look, mode: observe, signals: [{member: failure_reason, matches: session not found}]}]",
    );
    expect((await rawRequest(proxy.url, verify())).text).toBe(body);
    expect(await proxy.nextLog("let_through")).toMatchObject({
      signal: "failure_reason",
      kind: "unspecified",
    });
  });
});
