import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer, type RawData } from "ws";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { endToEnd, type Field, valuesOf } from "../helpers/http-bytes.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, request, SCORED, verify } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { askMeanwhile, openClient, rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

const ASKING: readonly Field[] = [
  ["Host", "gym.example:8123"],
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
  ["Sec-WebSocket-Version", "13"],
  ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
];

const textOf = (data: RawData): string => (data as Buffer).toString();

/** A WebSocket server that says every message back, with its path in front. */
async function echoing(): Promise<{ url: string; sockets: WebSocketServer }> {
  const upstream = await startHttpUpstream((_request, reply) => {
    reply.setHeader("content-type", "application/json").end(SCORED);
  });
  const sockets = new WebSocketServer({ server: upstream.server });
  sockets.on("connection", (socket, asked) => {
    socket.on("message", (data, isBinary) => {
      if (isBinary) socket.send(data);
      else socket.send(`${asked.url} ${asked.headers.host} ${textOf(data)}`);
    });
  });
  closeLater(() => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  });
  return { url: upstream.url, sockets };
}

async function dial(proxyUrl: string, path: string): Promise<WebSocket> {
  const socket = new WebSocket(`${proxyUrl.replace("http", "ws")}${path}`);
  closeLater(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

describe.each([true, false])("a WebSocket, with strict mode %s", (maskedAsError) => {
  it("carries text and bytes both ways, and its path and Host as they are", async () => {
    const { url } = await echoing();
    const proxy = await startProxy(url, { maskedAsError });
    const socket = await dial(proxy.url, "/ws/%2F?x=1&&");
    const host = new URL(proxy.url).host;
    socket.send("hello 超时");
    const [text] = (await once(socket, "message")) as [RawData];
    expect(textOf(text)).toBe(`/ws/%2F?x=1&& ${host} hello 超时`);
    const bytes = Buffer.alloc(300_000, 7);
    socket.send(bytes);
    const [back] = (await once(socket, "message")) as [RawData];
    expect(bytes.equals(back as Buffer)).toBe(true);
  });

  it("that either side closes is closed on the other", async () => {
    const { url, sockets } = await echoing();
    const proxy = await startProxy(url, { maskedAsError });
    const byUpstream = await dial(proxy.url, "/a");
    for (const socket of sockets.clients) socket.close(4001, "done");
    const [code] = (await once(byUpstream, "close")) as [number];
    expect(code).toBe(4001);
    const byClient = await dial(proxy.url, "/b");
    const [served] = [...sockets.clients];
    byClient.terminate();
    if (served !== undefined && served.readyState !== WebSocket.CLOSED) await once(served, "close");
    expect(served?.readyState).toBe(WebSocket.CLOSED);
  });
});

it("passes the fields of an upgrade to the upstream, and its bytes behind the header", async () => {
  const upstream = await startUpstream(({ write }) => {
    write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-MixedCase: 1\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n\r\nfirst bytes",
    );
  });
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  const asked: Field[] = [...ASKING, ["Cookie", "a=1"], ["X-MixedCase", "1"], ["x-mixedcase", "2"]];
  client.write(request("GET", "/x/../ws?a=%2F", { headers: asked }));
  await client.sees("first bytes");
  const reply = await client.reply();
  expect(reply.line).toBe("HTTP/1.1 101 Switching Protocols");
  expect(reply.fields).toEqual([
    ["Upgrade", "websocket"],
    ["Connection", "Upgrade"],
    ["X-MixedCase", "1"],
    ["Set-Cookie", "a=1"],
    ["set-cookie", "b=2"],
  ]);
  const [received] = upstream.requests;
  expect(received?.line).toBe("GET /x/../ws?a=%2F HTTP/1.1");
  // Node writes the fields of one name side by side, in the case of the first.
  expect(received?.fields).toEqual([...asked.slice(0, -1), ["X-MixedCase", "2"]]);
});

it.each([
  [
    "with a length",
    answer('{"detail":"no"}', {
      status: 403,
      reason: "Forbidden",
      headers: [
        ["X-A", "1"],
        ["x-a", "2"],
      ],
    }),
  ],
  [
    "in chunks",
    Buffer.from(
      'HTTP/1.1 403 Forbidden\r\nX-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n{"detail":"no"}\r\n0\r\n\r\n',
    ),
  ],
])("passes an answer that is no 101 whole: %s", async (_, bytes) => {
  const upstream = await startUpstream(bytes);
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("GET", "/ws", { headers: ASKING }));
  const reply = await client.reply();
  expect(reply.line).toBe("HTTP/1.1 403 Forbidden");
  expect(reply.text).toBe('{"detail":"no"}');
  expect(reply.complete).toBe(true);
  expect(endToEnd(reply.fields).filter(([name]) => /^x-a$/i.test(name))).toEqual([
    ["X-A", "1"],
    ["x-a", "2"],
  ]);
});

it("is 502 where nobody listens, and the proxy goes on", async () => {
  const port = await freePort();
  const proxy = await startProxy(`http://127.0.0.1:${port}`, { connectRetryMs: 0 });
  const reply = await rawRequest(proxy.url, request("GET", "/ws", { headers: ASKING }));
  expect(reply.status).toBe(502);
  expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
  await startUpstream(answer(SCORED), { port });
  expect((await rawRequest(proxy.url, verify())).status).toBe(200);
});

it("serves plain requests beside open WebSockets", async () => {
  const { url } = await echoing();
  const proxy = await startProxy(url);
  await dial(proxy.url, "/a");
  expect((await rawRequest(proxy.url, verify())).text).toBe(SCORED);
});

it("ends open WebSockets when the proxy is closed", async () => {
  const { url, sockets } = await echoing();
  const proxy = await startProxy(url);
  const socket = await dial(proxy.url, "/a");
  const gone = once(socket, "close");
  await proxy.close();
  await gone;
  expect((sockets.address() as AddressInfo).port).toBeGreaterThan(0);
});

it("ends the upgrade of a client that leaves before it is answered", async () => {
  const upstream = await startUpstream(() => undefined);
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("GET", "/ws", { headers: ASKING }));
  const { gone } = await upstream.arrived();
  client.end();
  await gone;
});

it("is over once it was declined, also where the client keeps its connection open", async () => {
  const upstream = await startUpstream(answer("no", { status: 403, reason: "Forbidden" }));
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("GET", "/ws", { headers: ASKING }));
  expect((await client.reply()).text).toBe("no");
  expect(await client.incoming.ended).toBe("fin");
  await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
  await proxy.gate.drain();
});

it.each([0, 10_000, 2_000_000])(
  "is over once it was declined and its client has left, %i bytes behind it",
  async (size) => {
    const upstream = await startUpstream(({ received, write }) => {
      if (received.target === "/other") write(answer("{}"));
    });
    const proxy = await startProxy(upstream);
    const client = await openClient(proxy.url);
    client.write(Buffer.concat([request("GET", "/ws", { headers: ASKING }), Buffer.alloc(size)]));
    const { write } = await upstream.arrived();
    await askMeanwhile(proxy.url, 20, request("GET", "/other"));
    write(answer("no", { status: 403, reason: "Forbidden" }));
    expect((await client.reply()).text).toBe("no");
    client.destroy();
    await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
  },
);

it("survives a client that resets in the middle of its upgrade", async () => {
  const upstream = await startUpstream(() => undefined);
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("GET", "/ws", { headers: ASKING }));
  const { gone } = await upstream.arrived();
  client.reset();
  await gone;
  const other = await openClient(proxy.url);
  other.write(request("GET", "/"));
  (await upstream.arrived(2)).write(answer("{}"));
  expect((await other.reply()).status).toBe(200);
});
