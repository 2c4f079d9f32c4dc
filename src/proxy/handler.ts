import type { IncomingMessage, ServerResponse } from "node:http";
import { requestHeaders } from "../http/headers.js";
import { logEvent, type Logger } from "../observe/log.js";
import type { Route } from "../route/route.js";
import { verifyPath } from "../route/verify-path.js";
import { offerReadable } from "./decode.js";
import { Exchange } from "./exchange.js";
import { forward, type Transport } from "./forward.js";
import { relay } from "./relay.js";
import { holdAndJudge } from "./verify.js";

/*
 * client → route ─┬─ passthrough, or no verify ───→ forward ─→ relay (streamed) ─────────────────────→ client
 *                 └─ strict, POST <verify path> ──→ forward ─→ hold → scan → verdict ─┬─ original ───→ client
 *                                                                                     └─ error ──────→ client
 */

/** What the pipeline needs from the proxy it belongs to. */
export interface Pipeline {
  readonly transport: Transport;
  readonly maxAnswerBytes: number;
  readonly log: Logger;
  routeOf(request: IncomingMessage): Route;
  isDraining(this: void): boolean;
  /** Called for each request as it arrives, and once more when nothing of it is left. */
  onOpened(): void;
  onClosed(): void;
}

/** The listener for plain requests: one way through for each. */
export function createHandler(
  pipeline: Pipeline,
): (request: IncomingMessage, reply: ServerResponse, expectsContinue?: boolean) => void {
  const { transport, log } = pipeline;
  return (request, reply, expectsContinue = false) => {
    pipeline.onOpened();
    const route = pipeline.routeOf(request);
    const exchange = new Exchange(request, reply, route, log, pipeline.isDraining);
    const target = request.url ?? "/";
    const inspected =
      route.mode === "strict" && request.method === "POST" && verifyPath(target) !== undefined;
    const kept = requestHeaders(request.rawHeaders);
    const headers = inspected ? offerReadable(kept) : kept;

    const abort = forward(
      transport,
      request,
      reply,
      { target, headers, expectsContinue },
      {
        onAnswer: (answer) => {
          exchange.upstreamMs = exchange.elapsedMs();
          if (inspected && answer.statusCode === 200) {
            holdAndJudge(exchange, answer, pipeline.maxAnswerBytes);
          } else {
            relay(exchange, answer);
          }
        },
        onFailure: (error) => exchange.fail(error),
      },
    );

    request.on("error", ignoreClientError);
    reply.once("close", () => {
      exchange.closed = true;
      const whole = reply.writableFinished;
      if (!whole) abort();
      const status = whole ? reply.statusCode : 499;
      const event = whole ? "request" : "client_gone";
      logEvent(
        log,
        "debug",
        event,
        { ...exchange.fields(), status },
        whole ? "served" : "the client left",
      );
      pipeline.onClosed();
    });
  };
}

/** A client that breaks off is noticed by the end of its reply; the request's own error says nothing more. */
function ignoreClientError(): void {}
