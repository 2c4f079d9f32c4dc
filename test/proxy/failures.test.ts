import { describe, expect, it } from "vitest";
import { endToEnd, valuesOf } from "../helpers/http-bytes.js";
import { answer, chunk, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient, rawRequest, type Reply } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { type Exchange, type Script, startUpstream } from "../helpers/upstream.js";

function expectFailure(reply: Reply, verdict: string): void {
  expect(reply.status).toBe(502);
  expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual([verdict]);
  expect(valuesOf(reply.fields, "content-type")).toEqual(["application/problem+json"]);
  expect(valuesOf(reply.fields, "retry-after")).toEqual([]);
  expect(reply.complete).toBe(true);
  expect(JSON.parse(reply.text)).toMatchObject({ status: 502 });
  expect(JSON.parse(reply.text)).not.toHaveProperty("mask_sample");
}

const BREAKS: readonly (readonly [string, Script])[] = [
  ["a reset before the answer", ({ reset }) => reset()],
  ["an end before the answer", ({ end }) => end()],
  [
    "a reset in the header",
    ({ write, flushed, reset }) => {
      write("HTTP/1.1 200 OK\r\ncontent-");
      return flushed().then(reset);
    },
  ],
  ["an end in the header", ({ end }) => end("HTTP/1.1 200 OK\r\ncontent-")],
];

interface Cut {
  readonly title: string;
  /** What the upstream sends, and what it still sends as it breaks off. */
  readonly sent: Buffer;
  readonly last?: string;
  readonly how: "end" | "reset";
}

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const inChunks = Buffer.from(CHUNKED + chunk(SCORED).toString());
const CUTS: readonly Cut[] = [
  { title: "an end inside the length", sent: answer(SCORED).subarray(0, -1), how: "end" },
  { title: "a reset inside the length", sent: answer(SCORED).subarray(0, -1), how: "reset" },
  {
    title: "an end behind the header",
    sent: answer(SCORED).subarray(0, -SCORED.length),
    how: "end",
  },
  { title: "an end between chunks", sent: inChunks, how: "end" },
  { title: "a reset between chunks", sent: inChunks, how: "reset" },
  { title: "an end inside a chunk", sent: Buffer.from(`${CHUNKED}ff\r\n${SCORED}`), how: "end" },
  { title: "an end inside the last chunk", sent: inChunks, last: "0\r\n", how: "end" },
  { title: "a chunk size that is none", sent: inChunks, last: "zz\r\n", how: "end" },
];

async function breakOff({ last = "", how }: Cut, exchange: Exchange): Promise<void> {
  exchange.write(last);
  await exchange.flushed();
  exchange[how]();
}

const cutting =
  (cut: Cut): Script =>
  async (exchange) => {
    exchange.write(cut.sent);
    await breakOff(cut, exchange);
  };

describe("an upstream that breaks off before its answer", () => {
  it.each(BREAKS)("is 502 for every client, after one delivery: %s", async (_, script) => {
    for (const maskedAsError of [true, false]) {
      const late: Script = async (exchange) => {
        await exchange.whole;
        await script(exchange);
      };
      const { reply, upstream, proxy } = await through(late, verify(), { maskedAsError });
      expectFailure(reply, "upstream-error");
      expect(upstream.requests).toHaveLength(1);
      expect(proxy.logged("upstream_error")).toHaveLength(1);
    }
  });

  it("is 502 and one delivery on a connection that had served before, too", async () => {
    const upstream = await startUpstream(async ({ whole, write, reset }) => {
      await whole;
      if (upstream.requests.length === 1) write(answer(SCORED));
      else reset();
    });
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    client.write(verify());
    expect((await client.reply("POST")).status).toBe(200);
    client.write(verify());
    expectFailure(await client.reply("POST"), "upstream-error");
    expect(upstream.requests).toHaveLength(2);
  });

  it("in the middle of the upload is 502", async () => {
    const upstream = await startUpstream(({ reset }) => reset());
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    const head = request("POST", "/verify", { headers: [["Content-Length", "1000"]] });
    client.write(Buffer.concat([head, Buffer.from("x")]));
    expectFailure(await client.reply("POST"), "upstream-error");
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("an answer that is cut short", () => {
  it.each(CUTS)("while it is held is 502, never a bare close: $title", async (cut) => {
    const { reply, upstream } = await through(cutting(cut));
    expectFailure(reply, "upstream-error");
    expect(upstream.requests).toHaveLength(1);
  });

  it.each(CUTS)("while it is streamed breaks the connection off: $title", async (cut) => {
    const { reply, proxy } = await through(cutting(cut), request("GET", "/t"));
    expect(reply.status).toBe(200);
    expect(reply.complete).toBe(false);
    expect(proxy.logged("upstream_error")).toHaveLength(1);
    expect((await rawRequest(proxy.url, request("GET", "/t"))).complete).toBe(false);
  });

  // Such a client knows the end of a body only by the end of the connection: a FIN would make half an answer whole.
  // libuv shows a reset as a FIN when it comes together with data, so the cut waits until the client has what was sent.
  const STREAMED = (["passthrough", "observe"] as const).flatMap((mode) =>
    CUTS.map((cut) => ({ ...cut, mode })),
  );
  it.each(STREAMED)("is never a clean end for an HTTP/1.0 client ($mode): $title", async (cut) => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startInMode(cut.mode, upstream);
    const client = await openClient(proxy.url);
    client.write(request("POST", "/verify", { version: "1.0", body: "{}" }));
    const exchange = await upstream.arrived();
    exchange.write(cut.sent);
    await client.sees(cut.title.endsWith("header") ? "\r\n\r\n" : SCORED.slice(0, -1));
    await breakOff(cut, exchange);
    expect(await client.incoming.ended).toBe("rst");
  });
});

// Section 4: 502 of the proxy, 503 of a mask and 503 of the upstream can always be told apart.
describe.each([true, false])("with strict mode %s", (maskedAsError) => {
  it.each([
    [503, "Service Unavailable", '{"detail":"no workers"}'],
    [503, "Service Unavailable", MASKED],
    [502, "Bad Gateway", "<html>"],
    [500, "Internal Server Error", "\"ValueError('x')\""],
    [504, "Gateway Timeout", ""],
  ])("passes the upstream's own %i without a verdict", async (status, reason, body) => {
    const headers = [["Retry-After", "7"]] as const;
    const { reply } = await through(answer(body, { status, reason, headers }), verify(), {
      maskedAsError,
    });
    expect(reply.line).toBe(`HTTP/1.1 ${status} ${reason}`);
    expect(reply.text).toBe(body);
    expect(endToEnd(reply.fields)).toEqual([
      ["Retry-After", "7"],
      ["content-type", "application/json"],
      ["content-length", String(Buffer.byteLength(body))],
    ]);
  });
});
