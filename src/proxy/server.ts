import http, { type Server } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Identity } from "./pem.js";
import { type ErrorCode, ProxyError } from "../errors.js";
import { failureReply } from "../http/reply.js";
import { logEvent, type Logger } from "../observe/log.js";
import { earlierReplies, hasBegun, readOn, repliesToWhole, stayPaused } from "./connection.js";
import { CLIENT_HEADER_MS, CLIENT_KEEP_ALIVE_MS, MAX_HEADER_BYTES } from "./limits.js";
import { rawReply } from "./raw-reply.js";

/** A server for clients, not yet listening. Clients may take any time over a body and wait any time for an answer; only the header has a limit. */
export function createListener(log: Logger, identity?: Identity): Server {
  const options = {
    keepAlive: true,
    keepAliveTimeout: CLIENT_KEEP_ALIVE_MS,
    headersTimeout: CLIENT_HEADER_MS,
    // How late a header that takes too long may be found out; Node's own choice is 30 s.
    connectionsCheckingInterval: CLIENT_HEADER_MS / 10,
    requestTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false,
    noDelay: true,
  };
  const server =
    identity === undefined
      ? http.createServer(options)
      : https.createServer({ ...options, ...identity });
  server.maxHeadersCount = 0;
  server.on(identity === undefined ? "connection" : "secureConnection", stayPaused);
  server.on("connect", (_request, socket: Duplex) => {
    const says = "maskgate is in front of one server and opens no tunnels";
    // Node has let go of the connection, and the client may leave while earlier replies are waited for.
    for (const event of ["end", "error"]) socket.on(event, () => socket.destroy());
    readOn(socket);
    void Promise.resolve(earlierReplies(socket)).then(() => refuse(socket, "METHOD_REFUSED", says));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    logEvent(log, "debug", "client_error", { code: error.code }, error.message);
    if (
      !socket.writable ||
      /^(?:ECONNRESET|EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/.test(error.code ?? "")
    ) {
      socket.destroy();
      return;
    }
    const says = `the request is not valid HTTP/1.1 (${error.code ?? error.message})`;
    refuse(socket, refusalOf(error), says);
  });
  return server;
}

function refusalOf(error: NodeJS.ErrnoException): ErrorCode {
  if (error.code === "HPE_HEADER_OVERFLOW") return "REQUEST_HEADER_TOO_LARGE";
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "REQUEST_TIMEOUT";
  return "REQUEST_INVALID";
}

/** Connections that end once a refusal has been sent. */
const refused = new WeakSet<Duplex>();

/** Tells a client why its connection ends, behind the replies to what it asked for before (RFC 9112 §9.3.2) and never in the middle of one. */
function refuse(socket: Duplex, code: ErrorCode, detail: string): void {
  const hasLeft = socket.readableEnded && repliesToWhole(socket) !== undefined;
  if (hasLeft) socket.destroy();
  // Each further piece of what cannot be read is an error again.
  if (hasLeft || refused.has(socket)) return;
  refused.add(socket);
  socket.on("error", () => socket.destroy());
  const send = (): void => {
    const earlier = repliesToWhole(socket);
    if (earlier !== undefined) void earlier.then(send);
    else if (hasBegun(socket)) socket.destroy();
    else socket.end(rawReply(failureReply(code, detail)), () => socket.destroy());
  };
  send();
}

/**
 * Starts listening.
 *
 * @param flags - how the flags begin that choose host and port.
 * @returns the port, which the system chose where 0 was asked for.
 * @throws {ProxyError} LISTEN_FAILED with what to do about it: the port is taken, or may not be used.
 */
export async function listen(
  server: Server,
  host: string,
  port: number,
  flags = "--",
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const says = explain(error, host, port).replaceAll("another --", `another ${flags}`);
      reject(new ProxyError("LISTEN_FAILED", says, { cause: error }));
    });
    server.listen({ host, port, backlog: 4096 }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Whether other machines can reach a server that listens. */
export function isExposed(server: Server): boolean {
  const { address } = server.address() as AddressInfo;
  return !/^(?:127\.|::1$|::ffff:127\.)/.test(address);
}

const NO_SUCH_ADDRESS = "this machine has no such address; choose another --host";

const LISTEN_ADVICE: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "the port is taken; stop what listens there or choose another --port"],
  ["EACCES", "this user may not use that port; choose one above 1023"],
  ["EADDRNOTAVAIL", NO_SUCH_ADDRESS],
  ["ENOTFOUND", NO_SUCH_ADDRESS],
]);

function explain(error: NodeJS.ErrnoException, host: string, port: number): string {
  const where = `cannot listen on ${host}:${port}`;
  return `${where}: ${LISTEN_ADVICE.get(error.code ?? "") ?? error.message}`;
}
