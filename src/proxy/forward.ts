import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { UpstreamAddress } from "../config/upstream.js";
import { ProxyError } from "../errors.js";
import { failureOf, refusalCode } from "../http/failure.js";
import { hasBody, type RawHeaders } from "../http/headers.js";
import type { UpstreamPool } from "./agent.js";
import { hearOut, tellResetFromEnd } from "./hear-out.js";
import { MAX_HEADER_BYTES } from "./limits.js";
import { Pump } from "./pump.js";
import type { Refusals } from "./refusals.js";

const CONNECT_RETRY_EVERY_MS = 250;

/** The one way to the upstream for plain requests. */
export interface Transport {
  readonly upstream: UpstreamAddress;
  readonly pool: UpstreamPool;
  /** How long a request that met a closed port is tried again, in milliseconds. */
  readonly connectRetryMs: number;
  readonly refusals: Refusals;
  /** How long the upstream may take until its header is there, in milliseconds; 0 is for ever. */
  readonly upstreamTimeoutMs: number;
}

/** What is sent: the request as the client made it, with the target and the fields that go on. */
export interface Outgoing {
  readonly target: string;
  readonly headers: RawHeaders;
  /** The client waits for `100 Continue` before it sends its body (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean;
}

/** Who is told how it went. Exactly one of `onAnswer` and `onFailure` is called, once; neither is called after `abort`. */
export interface AnswerHandler {
  /** The upstream wants the body of a client that waits to be asked for it. */
  onContinue(): void;
  onAnswer(answer: IncomingMessage): void;
  onFailure(error: ProxyError): void;
}

/**
 * Sends one request of a client to the upstream, and never sends it twice: it is tried again only while there was no connection at all
 * (the port was closed), and never for GET and HEAD, which are how clients ask whether somebody is there.
 * The body is not read from the client before there is a connection.
 *
 * @returns how to end it at once when the client has gone; the upstream sees its connection close.
 */
export function forward(
  transport: Transport,
  request: IncomingMessage,
  outgoing: Outgoing,
  handler: AnswerHandler,
): () => void {
  const method = request.method ?? "GET";
  const mayRetry = method !== "GET" && method !== "HEAD";
  const deadline = performance.now() + transport.connectRetryMs;
  let current: ClientRequest | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let timeout: NodeJS.Timeout | undefined;
  let settled = false;
  let answered: IncomingMessage | undefined;

  const settle = (): boolean => {
    if (settled) return false;
    settled = true;
    clearTimeout(timeout);
    return true;
  };
  const fail = (error: ProxyError): void => {
    if (!settle()) return;
    current?.destroy();
    handler.onFailure(error);
    // Some clients send all of their body before they look for an answer, and on a kept connection the next request lies behind it.
    request.resume();
  };

  const attempt = (): void => {
    if (settled) return;
    // Others may have taken the young ones in this turn.
    transport.pool.hasIdle();
    const sent = open(transport, method, outgoing);
    current = sent;
    let connected = false;
    let passing: Pump | undefined;
    const start = (socket: Socket): void => {
      connected = true;
      transport.refusals.connected();
      if (!hasBody(outgoing.headers)) {
        sent.end();
        return;
      }
      // Node tells the request of no room any more once its answer is whole, and the rest of the body would stay with the client.
      const body = new Pump(request, sent, socket);
      passing = body;
      // A body may come long after its header; one that is there already leaves with it in one write.
      setImmediate(() => {
        if (!body.began) sent.flushHeaders();
      });
    };
    sent.once("socket", (socket) => {
      hearOut(socket);
      const go = (): void => start(socket);
      if (socket.connecting)
        socket.once(transport.upstream.secure ? "secureConnect" : "connect", go);
      else go();
    });
    if (outgoing.expectsContinue) sent.once("continue", () => handler.onContinue());
    sent.once("response", (answer) => {
      answered = answer;
      if (!sent.shouldKeepAlive && !transport.upstream.secure) tellResetFromEnd(answer);
      transport.pool.endBehindUpload(sent);
      answer.once("end", () => {
        if (!request.complete) endWithItsClient(request, sent);
      });
      if (settle()) handler.onAnswer(answer);
      else answer.destroy();
    });
    // Node reports nothing else of a 101, and nobody asked for one: `Upgrade` is not sent on (RFC 9110 §7.8).
    sent.once("upgrade", (_answer, socket) => {
      socket.destroy();
      const detail = "the upstream switched to another protocol, which nobody asked for";
      fail(new ProxyError("UPSTREAM_INVALID_ANSWER", detail));
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // Where the end of the connection is the end of the body, Node would take an error for a clean end.
      if (answered?.complete === false) answered.destroy(error);
      if (settled) return;
      const refusal = connected ? undefined : refusalCode(error);
      if (refusal !== undefined && mayRetry && performance.now() < deadline) {
        transport.refusals.refused(refusal);
        retryTimer = setTimeout(attempt, CONNECT_RETRY_EVERY_MS);
        return;
      }
      fail(describe(error, transport.upstream));
    });
    sent.once("close", () => {
      passing?.stop();
      if (connected) request.resume();
    });
  };

  if (transport.upstreamTimeoutMs > 0) {
    timeout = setTimeout(() => {
      const seconds = transport.upstreamTimeoutMs / 1000;
      fail(new ProxyError("UPSTREAM_TIMEOUT", `the upstream sent no answer within ${seconds} s`));
    }, transport.upstreamTimeoutMs);
  }
  // An idle connection that the upstream has closed by now is found out before it is used: its end is among the events that come before this turn's last.
  if (transport.pool.hasIdle()) setImmediate(attempt);
  else attempt();
  return () => {
    settle();
    clearTimeout(retryTimer);
    current?.destroy();
  };
}

/** Ends a request whose answer is there and whose body is not, when its client leaves: nothing else would. */
function endWithItsClient(request: IncomingMessage, sent: ClientRequest): void {
  const client = request.socket;
  const end = (): void => {
    if (!request.complete) sent.destroy();
  };
  if (client.destroyed) end();
  client.once("close", end);
  sent.once("close", () => client.off("close", end));
}

function open(transport: Transport, method: string, outgoing: Outgoing): ClientRequest {
  const { upstream, pool } = transport;
  const sent = (upstream.secure ? https : http).request({
    agent: pool.agent,
    ...upstream.connect,
    method,
    path: outgoing.target,
    headers: outgoing.headers,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  sent.maxHeadersCount = 0;
  return sent;
}

function describe(error: NodeJS.ErrnoException, upstream: UpstreamAddress): ProxyError {
  const code = failureOf(error);
  if (
    upstream.secure &&
    /^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|CERT_|ERR_TLS_CERT)/.test(error.code ?? "")
  ) {
    const says = `the certificate of the upstream ${upstream.url} was refused: ${error.message} (${error.code}); a private authority is named by upstreamCa`;
    return new ProxyError(code, says, { cause: error });
  }
  const what = {
    UPSTREAM_RESET: "the upstream broke off before it answered",
    UPSTREAM_INVALID_ANSWER: "the upstream sent something that is not an HTTP answer",
  }[code as string];
  const detail = `${what ?? `the upstream ${upstream.url} could not be reached`} (${error.code ?? error.message})`;
  return new ProxyError(code, detail, { cause: error });
}
