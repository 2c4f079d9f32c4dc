import { once } from "node:events";
import { expect, it } from "vitest";
import { WebSocket, WebSocketServer, type RawData } from "ws";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { configOf, type Proxy, startConfigured } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";

const CONFIG = "routes: [{name: s, match: {pathPrefix: /strict}, mode: strict}]";

/** A WebSocket through a proxy of its own, to a server that says every message back. */
async function dial(): Promise<{ proxy: Proxy; upstream: string; socket: WebSocket }> {
  const upstream = await startHttpUpstream((_request, reply) => void reply.end());
  const sockets = new WebSocketServer({ server: upstream.server });
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => socket.send((data as Buffer).toString()));
  });
  closeLater(() => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  });
  const proxy = await startConfigured(upstream.url, CONFIG);
  const socket = new WebSocket(`${proxy.url.replace("http", "ws")}/strict/ws`);
  closeLater(() => socket.terminate());
  await once(socket, "open");
  return { proxy, upstream: upstream.url, socket };
}

async function echo(socket: WebSocket, text: string): Promise<string> {
  socket.send(text);
  const [data] = (await once(socket, "message")) as [RawData];
  return (data as Buffer).toString();
}

it("a WebSocket is in flight, and a drain waits for its end", async () => {
  const { proxy, socket } = await dial();
  expect(proxy.gate.inFlight()).toBe(1);
  const drained = proxy.gate.drain();
  await expect(openClient(proxy.url)).rejects.toThrow("ECONNREFUSED");
  expect(await echo(socket, "still here")).toBe("still here");
  expect(proxy.gate.inFlight()).toBe(1);
  socket.close();
  await drained;
  await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
});

it("a WebSocket of a listener that was removed goes on", async () => {
  const { proxy, upstream, socket } = await dial();
  await proxy.gate.apply(configOf(upstream, `listen: {host: localhost, port: 0}\n${CONFIG}`));
  expect(await echo(socket, "still here")).toBe("still here");
  expect(proxy.gate.inFlight()).toBe(1);
});

it("a WebSocket is broken off when the proxy is closed", async () => {
  const { proxy, socket } = await dial();
  const closed = once(socket, "close");
  await proxy.gate.close();
  await closed;
  await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
});
