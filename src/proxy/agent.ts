import http from "node:http";
import https from "node:https";
import { isIP, type Socket, type TcpSocketConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import type { UpstreamAddress } from "../config/upstream.js";
import { valuesOf } from "../http/headers.js";

/**
 * How long a connection may have been idle and still be used, in milliseconds. uvicorn ends idle connections after 5 s (Gym's launcher: 30 s), other
 * servers after 1 s; a request sent into one that is just being closed is lost, and a `/verify` may not be sent twice. A new connection on the
 * same machine costs less than that risk (RFC 9112 §9.3.1, §9.5).
 */
const IDLE_LIMIT_MS = 500;

/** How much earlier than the server's own hint (`Keep-Alive: timeout=1`) a connection is given up. */
const HINT_MARGIN_MS = 600;

const KEEP_ALIVE_PROBE_MS = 30_000;

/**
 * How much is read from a connection at once, in bytes: an answer of 64 KiB with its header comes in one piece. With 128 KiB large answers cost a sixth less,
 * but 300 of them at once take 40 MiB more, because each has a piece on its way.
 */
const READ_BYTES = 72 * 1024;

/** One pool of connections to the upstream: no limit on their number, and none used that the upstream may be about to close. */
export interface UpstreamPool {
  readonly agent: http.Agent;
  /** Whether an idle connection may be used by the next request; ends those that are too old to be trusted. */
  hasIdle(): boolean;
  /**
   * Has the connection of a request that is being answered end behind both. Where the upstream keeps no connection, Node would end it with the answer, in the
   * middle of an upload.
   */
  endBehindUpload(request: http.ClientRequest): void;
  close(): void;
}

/**
 * What TLS to the upstream goes by: its own name, never that in a client's `Host`, and the authorities that were configured, if any.
 */
export function tlsOptions({ connect, ca }: UpstreamAddress): https.AgentOptions {
  const name = "host" in connect && isIP(connect.host) === 0 ? { servername: connect.host } : {};
  return { ...name, ...(ca === undefined ? {} : { ca }) };
}

/**
 * Has all connections read into the same memory. Node would take new memory for each piece, which is garbage at once: its parser copies the body out of it.
 */
function readingIntoOneBuffer(): Partial<TcpSocketConnectOpts> {
  return {
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback(this: Socket, bytes: number, buffer: Uint8Array) {
        this.emit("data", buffer.subarray(0, bytes));
        return true;
      },
    },
  };
}

/** A pool for this address. */
export function createPool(upstream: UpstreamAddress): UpstreamPool {
  const usableUntil = new WeakMap<Duplex, number>();
  const last = new WeakSet<Duplex>();
  const options: https.AgentOptions = {
    keepAlive: true,
    keepAliveMsecs: KEEP_ALIVE_PROBE_MS,
    maxSockets: Number.POSITIVE_INFINITY,
    maxFreeSockets: Number.POSITIVE_INFINITY,
  };
  const agent = upstream.secure
    ? new https.Agent({ ...options, ...tlsOptions(upstream) })
    : new http.Agent({ ...options, ...readingIntoOneBuffer() });

  const keepSocketAlive = (socket: Duplex): boolean => {
    const limit = Math.min(IDLE_LIMIT_MS, hintOf(socket) - HINT_MARGIN_MS);
    if (limit <= 0 || last.has(socket)) return false;
    (socket as Socket).unref();
    socket.once("data", endUnasked);
    usableUntil.set(socket, performance.now() + limit);
    return true;
  };
  const reuse = agent.reuseSocket.bind(agent);
  const reuseSocket = (socket: Duplex, request: http.ClientRequest): void => {
    socket.off("data", endUnasked);
    reuse(socket, request);
  };
  Object.assign(agent, { keepSocketAlive, reuseSocket });

  const hasIdle = (): boolean => {
    const now = performance.now();
    let found = false;
    for (const sockets of Object.values(agent.freeSockets)) {
      // The oldest come first, and each is looked at: many requests may take one each in the same turn.
      const young = sockets?.findIndex((socket) => (usableUntil.get(socket) ?? 0) > now) ?? -1;
      if (young !== -1) found = true;
      const old = young === -1 ? sockets : sockets?.slice(0, young);
      for (const socket of [...(old ?? [])]) socket.destroy();
    }
    return found;
  };
  const timer = setInterval(hasIdle, IDLE_LIMIT_MS);
  timer.unref();
  return {
    agent,
    hasIdle,
    endBehindUpload: (request) => {
      if (request.shouldKeepAlive || request.writableFinished || request.socket === null) return;
      request.shouldKeepAlive = true;
      last.add(request.socket);
    },
    close: () => {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

/** What comes while nothing was asked would be taken for the next answer, or part of it (RFC 9112 §9.2). */
function endUnasked(this: Duplex): void {
  this.destroy();
}

function hintOf(socket: Duplex & { _httpMessage?: { res?: http.IncomingMessage } }): number {
  const [hint = ""] = valuesOf(socket._httpMessage?.res?.rawHeaders ?? [], "keep-alive");
  const seconds = /(?:^|[,\s])timeout=(\d+)/i.exec(hint);
  return seconds === null ? Number.POSITIVE_INFINITY : Number(seconds[1]) * 1000;
}
