import { describe, expect, it } from "vitest";
import { endToEnd, type Field, valuesOf } from "../helpers/http-bytes.js";
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
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { type Exchange, startUpstream } from "../helpers/upstream.js";

const BODY = '{"id":1}';
const EXPECTING: readonly Field[] = [
  ["Expect", "100-continue"],
  ["Content-Length", String(BODY.length)],
];

/** As uvicorn does it: `100 Continue` when the body is waited for, then the answer. */
const continuing =
  (bytes: Buffer) =>
  async ({ received, whole, write }: Exchange): Promise<void> => {
    if (valuesOf(received.fields, "expect").length > 0) write("HTTP/1.1 100 Continue\r\n\r\n");
    await whole;
    write(bytes);
  };

// A23: the corners in which proxies die or stall.
describe.each([true, false])("with strict mode %s", (maskedAsError) => {
  it("survives Trailer on a GET", async () => {
    const bytes = request("GET", "/", { headers: [["Trailer", "X-T"]] });
    const { reply, upstream, proxy } = await through(answer("{}"), bytes, { maskedAsError });
    expect(reply.status).toBe(200);
    expect(upstream.requests.map(({ method, body }) => [method, body.length])).toEqual([
      ["GET", 0],
    ]);
    expect((await rawRequest(proxy.url, verify())).status).toBe(200);
  });

  it("passes the body of a chunked POST with trailers, and never merges them", async () => {
    const headers: readonly Field[] = [
      ["Transfer-Encoding", "chunked"],
      ["Trailer", "X-T"],
    ];
    const bytes = Buffer.concat([
      request("POST", "/verify", { headers }),
      chunk('{"id"'),
      chunk(":1}"),
      Buffer.from("0\r\nX-T: 1\r\nHost: evil\r\nCookie: evil=1\r\n\r\n"),
    ]);
    const { reply, upstream } = await through(answer(SCORED), bytes, { maskedAsError });
    expect(reply.text).toBe(SCORED);
    const [received] = upstream.requests;
    expect(received?.body.toString()).toBe(BODY);
    expect(valuesOf(received?.fields ?? [], "x-t")).toEqual([]);
    expect(received?.trailers).toEqual([]);
    expect(valuesOf(received?.fields ?? [], "cookie")).toEqual([]);
    expect(valuesOf(received?.fields ?? [], "host")).toEqual(["gym.example:8123"]);
  });

  it("gets a 100 to a client that waits for it, then its body to the upstream, then the answer", async () => {
    const upstream = await startUpstream(continuing(answer(SCORED)));
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    client.write(request("POST", "/verify", { headers: EXPECTING }));
    await client.sees("HTTP/1.1 100 Continue\r\n\r\n");
    client.write(BODY);
    const reply = await client.reply("POST");
    expect(reply.interims).toEqual(["HTTP/1.1 100 Continue"]);
    expect(reply.text).toBe(SCORED);
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual([BODY]);
    client.write(verify());
    expect((await client.reply("POST")).text).toBe(SCORED);
  });

  it("passes a refusal that comes instead of the 100", async () => {
    const refusal = answer("no", { status: 401, reason: "Unauthorized" });
    const upstream = await startUpstream(({ write }) => write(refusal));
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    client.write(request("POST", "/verify", { headers: EXPECTING }));
    const reply = await client.reply("POST");
    expect(reply.status).toBe(401);
    expect(reply.text).toBe("no");
  });

  it.each([
    ["scored", answer(SCORED), 200],
    ["masked", answer(MASKED), maskedAsError ? 503 : 200],
    ["refused", answer("no", { status: 401, reason: "Unauthorized" }), 401],
    ["broken off", Buffer.alloc(0), 502],
  ])(
    "says that the connection ends after an answer without a 100: %s",
    async (_, bytes, status) => {
      const upstream = await startUpstream(async ({ whole, end }) => {
        await whole;
        end(bytes);
      });
      const proxy = await startProxy(upstream, { maskedAsError });
      const client = await openClient(proxy.url);
      const first = request("POST", "/verify", { headers: EXPECTING });
      client.write(Buffer.concat([first, Buffer.from(BODY), verify()]));
      const reply = await client.reply("POST");
      expect(reply.status).toBe(status);
      expect(reply.interims).toEqual([]);
      expect(valuesOf(reply.fields, "connection")).toEqual(["close"]);
      await client.incoming.ended;
      expect(client.incoming.length).toBe(0);
    },
  );

  it("passes an answer that comes before the end of its request's body", async () => {
    const upstream = await startUpstream(({ write }) =>
      write(answer("no", { status: 413, reason: "Too Large" })),
    );
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    client.write(
      Buffer.concat([
        request("POST", "/verify", { headers: [["Content-Length", "1000"]] }),
        Buffer.from("x"),
      ]),
    );
    expect((await client.reply("POST")).status).toBe(413);
  });

  it.each([
    ["with a length", answer(SCORED)],
    ["in chunks", chunkedAnswer([SCORED.slice(0, 9), SCORED.slice(9)])],
  ])("answers an HTTP/1.0 client without a transfer coding: %s", async (_, bytes) => {
    for (const target of ["/verify", "/t"]) {
      const asked = request("POST", target, { version: "1.0", body: BODY });
      const upstream = await startUpstream(bytes);
      const proxy = await startProxy(upstream, { maskedAsError });
      const client = await openClient(proxy.url);
      client.write(asked);
      const reply = await client.reply("POST");
      expect(reply.status).toBe(200);
      expect(valuesOf(reply.fields, "transfer-encoding")).toEqual([]);
      expect(reply.text).toBe(SCORED);
      expect(reply.complete).toBe(true);
      expect(await client.incoming.ended).toBe("fin");
      expect(upstream.requests.map(({ body }) => body.toString())).toEqual([BODY]);
    }
  });

  it("serves an HTTP/1.0 client without a Host", async () => {
    const bytes = Buffer.from(`POST /verify HTTP/1.0\r\nContent-Length: 8\r\n\r\n${BODY}`);
    const { reply } = await through(answer(SCORED), bytes, { maskedAsError });
    expect(reply.text).toBe(SCORED);
  });

  it("takes the answer after a 103 for the answer", async () => {
    const early = Buffer.from(
      "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\nX-Early: 1\r\n\r\n",
    );
    const bytes = Buffer.concat([early, early, answer(SCORED)]);
    const { reply } = await through(bytes, verify(), { maskedAsError });
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(SCORED);
    expect(reply.interims).toEqual([]);
    expect(endToEnd(reply.fields).map(([name]) => name)).toEqual([
      "content-type",
      "content-length",
    ]);
  });

  it("never merges the trailers of an answer into its fields", async () => {
    const bytes = Buffer.concat([
      answer("", {
        headers: [
          ["Transfer-Encoding", "chunked"],
          ["Trailer", "X-T"],
        ],
        length: false,
      }),
      chunk(SCORED),
      Buffer.from("0\r\nX-T: 1\r\nSet-Cookie: evil=1\r\n\r\n"),
    ]);
    const { reply } = await through(bytes, verify(), { maskedAsError });
    expect(reply.text).toBe(SCORED);
    expect(endToEnd(reply.fields).map(([name]) => name)).toEqual(["content-type"]);
    expect(reply.trailers).toEqual([]);
  });

  it("passes an answer whose body ends with its connection", async () => {
    const { reply } = await through(
      ({ end }) => end(`HTTP/1.1 200 OK\r\n\r\n${SCORED}`),
      verify(),
      { maskedAsError },
    );
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(SCORED);
    expect(reply.complete).toBe(true);
  });

  it("passes an answer of an HTTP/1.0 server", async () => {
    const { reply } = await through(
      ({ end }) => end(`HTTP/1.0 200 OK\r\nX-Old: 1\r\n\r\n${SCORED}`),
      verify(),
      { maskedAsError },
    );
    expect(reply.text).toBe(SCORED);
    expect(endToEnd(reply.fields)).toEqual([["X-Old", "1"]]);
  });

  it("says that a POST without a body has none", async () => {
    const { reply, upstream } = await through(answer(SCORED), request("POST", "/verify"), {
      maskedAsError,
    });
    expect(reply.status).toBe(200);
    const fields = upstream.requests[0]?.fields ?? [];
    expect(valuesOf(fields, "transfer-encoding")).toEqual([]);
  });

  it("passes headers of 40 kB both ways and refuses more than 64 KiB from a client", async () => {
    const large: Field = ["X-Large", "v".repeat(40_000)];
    const bytes = answer(SCORED, { headers: [large] });
    const { reply, upstream, proxy } = await through(bytes, verify([large]), { maskedAsError });
    expect(valuesOf(reply.fields, "x-large")).toEqual([large[1]]);
    expect(valuesOf(upstream.requests[0]?.fields ?? [], "x-large")).toEqual([large[1]]);
    const refused = await rawRequest(proxy.url, verify([["X-Large", "v".repeat(70_000)]]));
    expect(refused.status).toBe(431);
    expect(upstream.requests).toHaveLength(1);
  });
});

it("judges an answer whose body ends with its connection", async () => {
  const { reply } = await through(({ end }) => end(`HTTP/1.0 200 OK\r\n\r\n${MASKED}`));
  expect(reply.status).toBe(503);
});

it("judges an answer that follows a 100 and a 103", async () => {
  const upstream = await startUpstream(
    continuing(Buffer.concat([Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n"), answer(MASKED)])),
  );
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("POST", "/verify", { headers: EXPECTING }));
  await client.sees("100 Continue");
  client.write(BODY);
  expect((await client.reply("POST")).status).toBe(503);
});

it("gives an HTTP/1.0 client the error whole, and a clean end", async () => {
  const asked = request("POST", "/verify", { version: "1.0", body: BODY });
  const { reply } = await through(answer(MASKED), asked);
  expect(reply.status).toBe(503);
  expect(reply.complete).toBe(true);
  expect(valuesOf(reply.fields, "transfer-encoding")).toEqual([]);
});
