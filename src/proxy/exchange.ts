import type { IncomingMessage, ServerResponse } from "node:http";
import type { ProxyError } from "../errors.js";
import { statusOf } from "../http/failure.js";
import { failureReply, type Reply } from "../http/reply.js";
import type { RawHeaders } from "../http/headers.js";
import type { Verdict } from "../mask/verdict.js";
import { correlationOf } from "../observe/correlation.js";
import { logEvent, type Logger, loggedPath } from "../observe/log.js";
import type { Passage, Witness } from "../observe/passage.js";
import { keepOnRoute } from "../route/location.js";
import type { Route } from "../route/route.js";
import { reset } from "./connection.js";
import { endBehindUpload } from "./last-upload.js";
import { rawReply } from "./raw-reply.js";
import type { VerifyPath } from "../route/verify-path.js";

/** What an exchange is made from. */
export interface ExchangeParts {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
  readonly route: Route;
  /** What the request asks for, if its answer is to be looked at. */
  readonly verify: VerifyPath | undefined;
  readonly log: Logger;
  readonly monitor: Witness;
  /** The client waits to be asked for the body. */
  readonly expectsContinue: boolean;
}

/** One request of a client and what becomes of it: the only place that writes to the client. */
export class Exchange implements Passage {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
  readonly route: Route;
  readonly verify: VerifyPath | undefined;
  readonly log: Logger;
  readonly monitor: Witness;
  /** The client has gone, or everything was sent. */
  closed = false;
  answerBytes = 0;
  upstreamMs = 0;
  /** What was found in the answer, once it was looked at. */
  verdict: Verdict["verdict"] | undefined;
  readonly #started = performance.now();
  readonly #isDraining: () => boolean;
  #awaitsContinue: boolean;
  #writtenBefore: number | undefined;

  constructor(parts: ExchangeParts, isDraining: () => boolean) {
    const { request, reply, route, verify, log, monitor, expectsContinue } = parts;
    this.request = request;
    this.reply = reply;
    this.route = route;
    this.verify = verify;
    this.log = log;
    this.monitor = monitor;
    this.#awaitsContinue = expectsContinue;
    this.#isDraining = isDraining;
  }

  elapsedMs(): number {
    return Math.round((performance.now() - this.#started) * 10) / 10;
  }

  /** What every log line about this request says of it, and `more`. */
  fields(more: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return {
      ...more,
      route: this.route.name,
      mode: this.route.mode,
      method: this.request.method,
      path: loggedPath(this.request.url ?? ""),
      verdict: this.verdict,
      answerBytes: this.answerBytes,
      upstreamMs: this.upstreamMs,
      totalMs: this.elapsedMs(),
      ...correlationOf(this.request.rawHeaders),
    };
  }

  /** Asks a client that waits for it to send the body. */
  askForBody(): void {
    this.#awaitsContinue = false;
    this.reply.writeContinue();
  }

  /**
   * Puts the reply's header in place, exactly these fields in this order. Node's own additions are held back: `Date` and, where the connection
   * stays open anyway, `Connection` and `Keep-Alive`.
   *
   * @returns false when the upstream's own bytes cannot be sent on; nothing has been written then.
   */
  start(status: number, phrase: string, headers: RawHeaders): boolean {
    const { reply, request } = this;
    reply.sendDate = false;
    // Nobody can tell whether a client that was not asked for its body sends it all the same, so Node ends the connection; the client has to know.
    if (this.#isDraining() || this.#awaitsContinue) reply.shouldKeepAlive = false;
    if (!reply.shouldKeepAlive && !request.complete && !this.#awaitsContinue)
      endBehindUpload(request);
    if (reply.shouldKeepAlive && request.httpVersion === "1.1") reply.removeHeader("connection");
    this.#writtenBefore = reply.socket?.bytesWritten;
    try {
      reply.writeHead(status, phrase, headers as string[]);
      return true;
    } catch {
      return false;
    }
  }

  /** The fields with the route's prefix back in `Location`; untouched on a passthrough route, which changes nothing. */
  withOwnLocation(headers: RawHeaders): RawHeaders {
    const { url = "/", rawHeaders } = this.request;
    return keepOnRoute(this.route, { target: url, headers: rawHeaders }, headers);
  }

  /** Sends a whole reply of maskgate's own. */
  send({ status, phrase, headers, body }: Reply): void {
    if (this.closed) return;
    this.start(status, phrase, headers);
    this.reply.end(body);
  }

  /** Tells the client that the upstream failed, before anything was sent. */
  fail(error: ProxyError): void {
    if (this.closed) return;
    if (this.reply.headersSent) {
      this.breakOff(error);
      return;
    }
    this.monitor.failed(this, error.code);
    const reply = failureReply(error.code, error.message);
    const fields = this.fields({ status: reply.status, code: error.code });
    if (error.code === "INTERNAL") {
      logEvent(this.log, "error", "internal_error", { ...fields, err: error.cause }, error.message);
    } else {
      const unread = statusOf(error.code).verdict === "uninspectable";
      logEvent(
        this.log,
        "warn",
        unread ? "uninspectable" : "upstream_error",
        fields,
        error.message,
      );
    }
    this.send(reply);
  }

  /**
   * Breaks the connection off, so that what was sent so far can never be taken for a whole answer. Where nothing of it has left yet the client is told,
   * because Gym's client sends a request again and again whose connection just closes (server_utils.py:383).
   */
  breakOff(error: ProxyError): void {
    if (this.closed) return;
    this.monitor.failed(this, error.code);
    logEvent(this.log, "warn", "upstream_error", this.fields({ code: error.code }), error.message);
    const { socket } = this.reply;
    if (socket === null) this.reply.destroy();
    else if (socket.bytesWritten !== this.#writtenBefore) reset(socket);
    else socket.end(rawReply(failureReply(error.code, error.message)));
  }
}
