import { describe, expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, chunk, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient, rawRequest, type Reply } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

/** No test that runs beside this one is given this port. */
const CLOSED = "http://127.0.0.1:9";

function expectBadGateway(reply: Reply): void {
  expect(reply.status).toBe(502);
  expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
  expect(valuesOf(reply.fields, "retry-after")).toEqual([]);
  expect(reply.complete).toBe(true);
  expect(JSON.parse(reply.text)).toMatchObject({ status: 502 });
}

describe.each(MODES)("a closed port (%s)", (mode) => {
  it.each(["POST", "DELETE", "PUT"])(
    "is tried again for %s until the upstream is up, and it gets the request once",
    async (method) => {
      const port = await freePort();
      const proxy = await startInMode(mode, `http://127.0.0.1:${port}`);
      const waiting = rawRequest(proxy.url, request(method, "/verify", { body: '{"id":1}' }));
      // A refused GET that came later: by now the other was refused as well.
      await rawRequest(proxy.url, request("GET", "/"));
      const upstream = await startUpstream(answer(SCORED), { port });
      expect((await waiting).text).toBe(SCORED);
      expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['{"id":1}']);
      expect((await rawRequest(proxy.url, request("GET", "/"))).status).toBe(200);
    },
  );

  it("is tried again for a large and for a chunked upload, and each byte comes once", async () => {
    const port = await freePort();
    const proxy = await startInMode(mode, `http://127.0.0.1:${port}`);
    const large = "x".repeat(3_000_000);
    const chunked = request("POST", "/t", { headers: [["Transfer-Encoding", "chunked"]] });
    const waiting = [
      rawRequest(proxy.url, request("POST", "/verify", { body: large })),
      rawRequest(proxy.url, Buffer.concat([chunked, chunk(large), Buffer.from("0\r\n\r\n")])),
    ];
    await rawRequest(proxy.url, request("GET", "/"));
    const upstream = await startUpstream(answer(SCORED), { port });
    for (const reply of await Promise.all(waiting)) expect(reply.status).toBe(200);
    expect(upstream.requests.map(({ body }) => body.toString() === large)).toEqual([true, true]);
  });

  // A11: whoever asks whether somebody is there hears it at once.
  it.each(["GET", "HEAD"])("is 502 at once for %s", async (method) => {
    const proxy = await startInMode(mode, CLOSED);
    const reply = await rawRequest(proxy.url, request(method, "/"));
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
    expect(reply.body.length > 0).toBe(method === "GET");
  });

  it("takes the whole of a large upload, and what the client asks for behind it", async () => {
    const upstream = CLOSED;
    const proxy = await startInMode(mode, upstream, "connectRetryMs: 0");
    const client = await openClient(proxy.url);
    client.write(request("POST", "/verify", { body: "x".repeat(20_000_000) }));
    expect((await client.reply("POST")).status).toBe(502);
    client.write(request("GET", "/"));
    expect((await client.reply()).status).toBe(502);
  });

  it.each([0, 300])("is 502 for POST after connectRetryMs: %i", async (connectRetryMs) => {
    const proxy = await startInMode(mode, CLOSED, `connectRetryMs: ${connectRetryMs}`);
    expectBadGateway(await rawRequest(proxy.url, verify()));
    expect(proxy.logged("upstream_error")).toHaveLength(1);
  });

  it("is told of at once, and again only after there was a connection", async () => {
    const port = await freePort();
    const proxy = await startInMode(mode, `http://127.0.0.1:${port}`);
    const waiting = [rawRequest(proxy.url, verify()), rawRequest(proxy.url, verify())];
    expect(await proxy.nextLog("upstream_refused")).toMatchObject({
      level: 40,
      upstream: `http://127.0.0.1:${port}`,
      code: "ECONNREFUSED",
      msg: `the upstream http://127.0.0.1:${port} does not answer (ECONNREFUSED); a request is tried again for 30 s`,
    });
    // A refused GET that came later: by now both were refused.
    await rawRequest(proxy.url, request("GET", "/"));
    const upstream = await startUpstream(answer(SCORED), { port });
    for (const reply of await Promise.all(waiting)) expect(reply.status).toBe(200);
    expect(proxy.logged("upstream_refused")).toHaveLength(1);
    await upstream.close();
    const late = rawRequest(proxy.url, verify());
    await proxy.nextLog("upstream_refused", 2);
    await startUpstream(answer(SCORED), { port });
    expect((await late).status).toBe(200);
  });

  it("that opens again serves the next request, as often as that happens", async () => {
    const port = await freePort();
    const proxy = await startInMode(mode, `http://127.0.0.1:${port}`);
    for (let round = 0; round < 5; round += 1) {
      const upstream = await startUpstream(answer(SCORED), { port });
      expect((await rawRequest(proxy.url, request("GET", "/"))).status).toBe(200);
      expect((await rawRequest(proxy.url, verify())).status).toBe(200);
      await upstream.close();
      expect((await rawRequest(proxy.url, request("GET", "/"))).status).toBe(502);
    }
  });
});

it.each(MODES)("answers 502 for a name that nobody knows, in mode %s", async (mode) => {
  const proxy = await startInMode(mode, "http://nobody.invalid:9100");
  expectBadGateway(await rawRequest(proxy.url, verify()));
});
