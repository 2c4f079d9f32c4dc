import { expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { watchHttp } from "../helpers/settings.js";
import { startUpstream } from "../helpers/upstream.js";

// A05: Gym's client keeps idle connections 15 s and re-sends a verify whose connection was closed under its hands.
it("keeps a client's idle connection at least 75 s, which is above Gym's 15 s", async () => {
  const seen = watchHttp();
  const proxy = await startProxy(await startUpstream(answer(SCORED)));
  const reply = await rawRequest(proxy.url, verify());
  const [taken] = seen.servers;
  expect(taken?.server.keepAliveTimeout).toBeGreaterThanOrEqual(75_000);
  expect(taken?.server.maxRequestsPerSocket ?? 0).toBe(0);
  for (const hint of valuesOf(reply.fields, "keep-alive")) {
    expect(Number(/timeout=(\d+)/.exec(hint)?.[1])).toBeGreaterThanOrEqual(75);
  }
});

// A06: a verify may score for hours without a byte; only a header that never ends has a limit.
it("sets no limit on a request or its answer, and one on a client's header", async () => {
  const seen = watchHttp();
  const upstream = await startUpstream(() => undefined);
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(verify());
  await (
    await upstream.arrived()
  ).whole;
  const [taken] = seen.servers;
  expect(taken?.server.requestTimeout).toBe(0);
  expect(taken?.server.timeout).toBe(0);
  expect(taken?.socket.timeout ?? 0).toBe(0);
  expect(taken?.server.headersTimeout).toBeGreaterThan(taken?.server.keepAliveTimeout ?? 0);
  expect(taken?.server.headersTimeout).toBeLessThanOrEqual(120_000);
  expect(seen.calls).toHaveLength(1);
  expect(seen.calls[0]?.socket?.timeout ?? 0).toBe(0);
});

it.each(MODES)(
  "answers 504 once when a configured limit passes, and ends the upstream's connection (%s)",
  async (mode) => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startInMode(mode, upstream, "upstreamTimeoutMs: 100");
    const reply = await rawRequest(proxy.url, verify());
    expect(reply.status).toBe(504);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-timeout"]);
    await (
      await upstream.arrived()
    ).gone;
    await upstream.quiet();
    expect(upstream.requests).toHaveLength(1);
  },
);

it("does not count the time of a body against the configured limit of a header", async () => {
  const upstream = await startUpstream(({ received, write }) => {
    if (received.method === "POST") return;
    write(
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
  });
  const proxy = await startProxy(upstream, { upstreamTimeoutMs: 200 });
  const client = await openClient(proxy.url);
  client.write(request("GET", "/mcp"));
  await client.sees("\r\n\r\n");
  // The limit of a second request passes after that of the first would have.
  expect((await rawRequest(proxy.url, verify())).status).toBe(504);
  expect(client.incoming.ending).toBeUndefined();
});
