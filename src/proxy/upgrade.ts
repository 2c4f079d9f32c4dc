import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { createProxyServer, type ServerOptions } from "http-proxy-3";
import type { UpstreamAddress } from "../config/upstream.js";
import { failureReply } from "../http/reply.js";
import { tokensOf, without } from "../http/headers.js";
import { logEvent, loggedPath } from "../observe/log.js";
import { chooseRoute, type Pipeline } from "./handler.js";
import { rawReply } from "./raw-reply.js";

const OF_THE_UPGRADE: ReadonlySet<string> = new Set(["connection", "upgrade", "http2-settings"]);

/** The connections that were upgraded, which the server no longer counts as its own. */
export interface Upgrades {
  /** The listener for `upgrade`: WebSockets go to the upstream, any other upgrade is declined and the request served as a plain one. */
  handle(this: void, request: IncomingMessage, socket: Duplex, head: Buffer): void;
  closeAll(): void;
}

export function createUpgrades(server: Server, pipeline: Pipeline, port: () => number): Upgrades {
  const { log } = pipeline;
  const open = new Set<Duplex>();
  const target = targetOf(pipeline.transport.upstream);
  const proxy = createProxyServer({ target, toProxy: true, xfwd: false });
  proxy.on("error", (error: NodeJS.ErrnoException, request, socket) => {
    const path = loggedPath(request.url ?? "");
    const detail = `the upgrade did not reach the upstream (${error.code ?? error.message})`;
    logEvent(log, "warn", "upgrade_error", { path, code: error.code }, detail);
    if ("bytesWritten" in socket && socket.bytesWritten === 0) {
      socket.write(rawReply(failureReply("UPSTREAM_UNREACHABLE", detail)));
    }
  });
  return {
    handle: (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      if (!isWebSocket(request)) {
        serveAsPlain(server, request, socket, head);
        return;
      }
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      const { target: url } = chooseRoute(pipeline, port(), request);
      proxy.ws(Object.assign(request, { url }), socket, head);
    },
    closeAll: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

function isWebSocket(request: IncomingMessage): boolean {
  return request.method === "GET" && request.headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * A server may ignore an upgrade (RFC 9110 §7.8), and uvicorn ignores `h2c`, which some clients offer with every request. Node hands such a request over
 * unparsed, so its header goes back in front of the bytes that follow it, without the upgrade, and the connection starts anew. Were it passed on
 * as an upgrade, its answer would not be looked at.
 */
function serveAsPlain(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  const kept = without(rawHeaders, OF_THE_UPGRADE);
  for (let i = 0; i < kept.length; i += 2) lines.push(`${kept[i]}: ${kept[i + 1]}`);
  const connection = tokensOf(rawHeaders, "connection").filter((name) => !OF_THE_UPGRADE.has(name));
  if (connection.length > 0) lines.push(`Connection: ${connection.join(", ")}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

function targetOf({ connect, secure }: UpstreamAddress): NonNullable<ServerOptions["target"]> {
  const protocol = secure ? "https:" : "http:";
  if ("socketPath" in connect) return { ...connect, protocol, host: "localhost", port: 80 };
  return { ...connect, hostname: connect.host, protocol };
}
