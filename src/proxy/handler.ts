import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "../config/config.js";
import { requestHeaders } from "../http/headers.js";
import { logEvent, type Logger } from "../observe/log.js";
import type { Witness } from "../observe/passage.js";
import { matchRoute } from "../route/match.js";
import { cutPrefix } from "../route/prefix.js";
import type { Route } from "../route/route.js";
import { type VerifyPath, verifyPath } from "../route/verify-path.js";
import { inTurn, keepParsing } from "./connection.js";
import { offerReadable } from "./decode.js";
import { Exchange } from "./exchange.js";
import { forward, type Transport } from "./forward.js";
import type { Bounds } from "./judge.js";
import { observe } from "./observe.js";
import { relay } from "./relay.js";
import type { UnmatchedWatch } from "./unmatched.js";
import { holdAndJudge } from "./verify.js";

/*
 * client → route ─┬─ passthrough, or no verify ──→ forward ─→ relay (streamed) ────────────────────────────→ client
 *                 ├─ observe, POST <verify path> → forward ─→ relay, and on the side: scan → verdict → log
 *                 └─ strict, POST <verify path> ─→ forward ─→ hold → scan → verdict → decide ─┬─ original ─→ client
 *                                                                                            └─ error ────→ client
 */

/** What the pipeline needs from the proxy it belongs to. */
export interface Pipeline {
  readonly transport: Transport;
  readonly bounds: Bounds;
  readonly log: Logger;
  readonly monitor: Witness;
  /** What applies where no route matches. */
  readonly unmatched: Route;
  /** Told of each request that no route matches. */
  readonly onUnmatched: UnmatchedWatch;
  /** The routes for a request that arrives now. */
  live(): Pick<Config, "routes" | "verifyPaths">;
}

/** What the pipeline needs from the door that a request came in by. */
export interface Entrance {
  port(): number;
  isDraining(this: void): boolean;
  /** Called for each request and each upgrade as it arrives, and once more when nothing of it is left. */
  onOpened(socket: Socket): void;
  onClosed(this: void): void;
}

/** The route of a request that arrives now, and the target that goes on to the upstream. */
export function chooseRoute(
  pipeline: Pipeline,
  port: number,
  request: IncomingMessage,
): { readonly route: Route; readonly target: string; readonly verify: VerifyPath | undefined } {
  const live = pipeline.live();
  const { routes, verifyPaths } = live;
  const asked = request.url ?? "/";
  const facts = { port, target: asked, headers: request.rawHeaders };
  const matched = matchRoute(routes, facts);
  if (matched === undefined) pipeline.onUnmatched(live, request);
  const route = matched ?? pipeline.unmatched;
  const { pathPrefix } = route.match;
  const target = pathPrefix === undefined ? asked : cutPrefix(asked, pathPrefix);
  const looked = route.mode !== "passthrough" && request.method === "POST";
  return { route, target, verify: looked ? verifyPath(target, verifyPaths) : undefined };
}

/** The listener for plain requests: one way through for each. */
export function createHandler(
  pipeline: Pipeline,
  entrance: Entrance,
): (request: IncomingMessage, reply: ServerResponse, expectsContinue?: boolean) => void {
  const { transport, log, monitor, bounds } = pipeline;
  return (request, reply, expectsContinue = false) => {
    keepParsing(request.socket);
    // Node drops what is left of a body once the reply is whole, if nobody had asked for it while it came: here it is asked for before any of it is there.
    request.read(0);
    entrance.onOpened(request.socket);
    const { route, target, verify } = chooseRoute(pipeline, entrance.port(), request);
    const exchange = new Exchange(
      { request, reply, route, verify, log, monitor, expectsContinue },
      entrance.isDraining,
    );
    const kept = requestHeaders(request.method ?? "GET", request.rawHeaders);
    const strict = verify !== undefined && route.mode === "strict";
    const headers = strict ? offerReadable(kept) : kept;

    const onAnswer = (answer: IncomingMessage): void => {
      exchange.upstreamMs = exchange.elapsedMs();
      if (verify === undefined || answer.statusCode !== 200) relay(exchange, answer);
      else if (strict) holdAndJudge(exchange, answer, bounds);
      else observe(exchange, answer, bounds);
    };
    const onFailure = exchange.fail.bind(exchange);
    const onContinue = exchange.askForBody.bind(exchange);
    const outgoing = { target, headers, expectsContinue };
    let abort: (() => void) | undefined;
    inTurn(request.socket, reply, () => {
      abort = forward(transport, request, outgoing, { onContinue, onAnswer, onFailure });
    });

    request.on("error", ignoreClientError);
    reply.once("close", () => {
      exchange.closed = true;
      const served = reply.writableFinished;
      monitor.ended(exchange, served ? reply.statusCode : undefined);
      if (served) {
        const fields = () => exchange.fields({ status: reply.statusCode });
        logEvent(log, "debug", "request", fields, "served");
      } else {
        abort?.();
        const fields = () => exchange.fields({ status: 499 });
        logEvent(log, "debug", "client_gone", fields, "the client left");
      }
      onceThrough(request, entrance.onClosed);
    });
  };
}

/** Calls back when all of a request has come, or its client has gone. Node ends no request whose answer was sent. */
function onceThrough(request: IncomingMessage, done: () => void): void {
  const { socket } = request;
  if (request.complete || socket.destroyed) {
    done();
    return;
  }
  const end = (): void => {
    request.off("end", end);
    socket.off("close", end);
    done();
  };
  request.once("end", end);
  socket.once("close", end);
}

/** A client that breaks off is noticed by the end of its reply; the request's own error says nothing more. */
function ignoreClientError(): void {}
