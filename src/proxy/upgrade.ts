import type { ClientRequest, IncomingMessage, Server } from "node:http";
import https from "node:https";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type * as HttpProxy3 from "http-proxy-3";
import type { UpstreamAddress } from "../config/upstream.js";
import { failureReply } from "../http/reply.js";
import { endToEnd, type RawHeaders, tokensOf, without } from "../http/headers.js";
import { logEvent, loggedPath } from "../observe/log.js";
import { keepOnRoute } from "../route/location.js";
import { tlsOptions } from "./agent.js";
import { earlierReplies, readOn, reset } from "./connection.js";
import { chooseRoute, type Entrance, type Pipeline } from "./handler.js";
import { rawHead, rawReply } from "./raw-reply.js";

const OF_THE_UPGRADE: ReadonlySet<string> = new Set(["connection", "upgrade", "http2-settings"]);

/** What a route makes of the fields of an answer that declines an upgrade. */
type EditFields = (answer: RawHeaders) => RawHeaders;

/** The connections that were upgraded: in flight until they end, and no longer ended by the server itself. */
export interface Upgrades {
  /** The listener for `upgrade`: WebSockets go to the upstream, any other upgrade is declined and the request served as a plain one. */
  handle(this: void, request: IncomingMessage, socket: Duplex, head: Buffer): void;
  closeAll(): void;
}

/** Carries the upgrades that come in by one server, through http-proxy-3. */
export function createUpgrades(server: Server, pipeline: Pipeline, entrance: Entrance): Upgrades {
  const { log, transport } = pipeline;
  const open = new Set<Duplex>();
  const watched = new WeakSet<Duplex>();
  const { upstream } = transport;
  const edits = new WeakMap<IncomingMessage, EditFields>();
  let carrier: HttpProxy3.ProxyServer | undefined;
  /** Made for the first WebSocket: most upstreams never see one. */
  const makeCarrier = (): HttpProxy3.ProxyServer => {
    const proxy = loadHttpProxy().createProxyServer({
      target: targetOf(upstream),
      toProxy: true,
      xfwd: false,
      ...(upstream.secure ? { agent: new https.Agent(tlsOptions(upstream)) } : {}),
    });
    proxy.on("proxyReqWs", (sent, request, socket) => {
      restore(sent, request.rawHeaders);
      mend(sent, socket, edits.get(request)!);
    });
    proxy.on("error", (error: NodeJS.ErrnoException, request, socket) => {
      const path = loggedPath(request.url ?? "");
      const detail = `the upgrade did not reach the upstream (${error.code ?? error.message})`;
      logEvent(log, "warn", "upgrade_error", { path, code: error.code }, detail);
      if ("bytesWritten" in socket && socket.bytesWritten === 0) {
        socket.write(rawReply(failureReply("UPSTREAM_UNREACHABLE", detail)));
      }
    });
    return proxy;
  };
  const handle = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (!isWebSocket(request)) {
      serveAsPlain(server, request, socket, head);
      return;
    }
    open.add(socket);
    entrance.onOpened(request.socket);
    socket.once("close", () => {
      open.delete(socket);
      entrance.onClosed();
    });
    const { route, target: url } = chooseRoute(pipeline, entrance.port(), request);
    const asked = { target: request.url ?? "/", headers: request.rawHeaders };
    edits.set(request, (answer) => keepOnRoute(route, asked, answer));
    carrier ??= makeCarrier();
    carrier.ws(Object.assign(request, { url }), socket, head);
  };
  return {
    handle: (request, socket, head) => {
      if (!watched.has(socket)) socket.on("error", () => socket.destroy());
      watched.add(socket);
      // The replies to what was asked before go first, in their order (RFC 9112 §9.3.2).
      const earlier = earlierReplies(socket);
      if (earlier === undefined) {
        handle(request, socket, head);
        return;
      }
      const ahead = readAhead(socket);
      void earlier.finally(() => {
        // The last of them has set the limit for an idle connection.
        request.socket.setTimeout(0);
        const came = Buffer.concat([head, ...ahead()]);
        if (!socket.destroyed) handle(request, socket, came);
      });
    },
    closeAll: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

/** The most that is read before its time, in bytes; of a client that sends more only a reset is noticed. */
const MOST_AHEAD = 64 * 1024;

/**
 * Reads on while an upgrade waits for its turn or its answer. Node does not: nobody would notice that the client has left, and what it asked for would go on.
 *
 * @returns how to stop, and what has come.
 */
function readAhead(socket: Duplex): () => readonly Buffer[] {
  const came: Buffer[] = [];
  let size = 0;
  const keep = (chunk: Buffer): void => {
    came.push(chunk);
    size += chunk.length;
    if (size > MOST_AHEAD) socket.pause();
  };
  const leave = (): void => void socket.destroy();
  socket.on("data", keep).once("end", leave);
  readOn(socket);
  return () => {
    socket.off("data", keep).off("end", leave).pause();
    return came;
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
  const kept = without(rawHeaders, OF_THE_UPGRADE);
  const connection = tokensOf(rawHeaders, "connection").filter((name) => !OF_THE_UPGRADE.has(name));
  if (connection.length > 0) kept.push("Connection", connection.join(", "));
  const line = `${method} ${url} HTTP/${httpVersion}`;
  socket.unshift(Buffer.concat([rawHead(line, kept), head]));
  server.emit("encrypted" in socket ? "secureConnection" : "connection", socket);
  socket.resume();
}

/** Gives an upgrade its fields back as the client wrote them: http-proxy-3 1.23.3 lowers their names, joins doubled ones and drops some of those. */
function restore(sent: ClientRequest, headers: RawHeaders): void {
  // Node writes the header at once where there is an `Expect`.
  if (sent.headersSent) return;
  for (const name of sent.getHeaderNames()) sent.removeHeader(name);
  for (let i = 0; i < headers.length; i += 2) sent.appendHeader(headers[i]!, headers[i + 1]!);
}

/**
 * What http-proxy-3 1.23.3 leaves open: it waits for the upstream although the client has gone, it lowers and joins the fields of the 101, and an answer
 * that declines the upgrade is re-framed, and left hanging when it is cut short.
 */
function mend(sent: ClientRequest, socket: Socket, edit: EditFields): void {
  socket.once("close", () => sent.destroy());
  const ahead = readAhead(socket);
  sent.prependOnceListener("upgrade", (answer) => {
    socket.unshift(Buffer.concat(ahead()));
    Object.defineProperty(answer, "headers", { value: grouped(answer.rawHeaders) });
  });
  // The library adds its own listener right after this event.
  queueMicrotask(() => {
    sent.removeAllListeners("response");
    sent.once("response", (answer) => {
      ahead();
      decline(answer, socket, edit);
    });
  });
}

/** Passes on an answer that is no 101; the connection ends after it. What the client sent behind its request is read only to notice that it leaves. */
function decline(answer: IncomingMessage, socket: Socket, edit: EditFields): void {
  const line = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`;
  socket.write(rawHead(line, [...edit(endToEnd(answer.rawHeaders)), "Connection", "close"]));
  answer.once("error", () => reset(socket));
  answer.pipe(socket, { end: false });
  answer.once("end", () => socket.destroySoon());
  socket.once("end", () => socket.destroy()).resume();
}

/** The fields as http-proxy-3 writes them: an object from name, in its own case, to all values of that name. */
function grouped(headers: RawHeaders): Record<string, string[]> {
  const byName = new Map<string, string[]>();
  for (let i = 0; i < headers.length; i += 2) {
    const values = byName.get(headers[i]!) ?? [];
    byName.set(headers[i]!, [...values, headers[i + 1]!]);
  }
  return Object.fromEntries(byName);
}

function targetOf({
  connect,
  secure,
}: UpstreamAddress): NonNullable<HttpProxy3.ServerOptions["target"]> {
  const protocol = secure ? "https:" : "http:";
  if ("socketPath" in connect) return { ...connect, protocol, host: "localhost", port: 80 };
  return { ...connect, hostname: connect.host, protocol };
}

function loadHttpProxy(): typeof HttpProxy3 {
  return createRequire(import.meta.url)("http-proxy-3") as typeof HttpProxy3;
}
