import type { IncomingMessage } from "node:http";
import { ProxyError } from "../errors.js";
import { endToEnd, type RawHeaders } from "../http/headers.js";
import type { Exchange } from "./exchange.js";
import { Pump } from "./pump.js";

/** Starts the reply with the answer's own status and phrase and these fields; false when it could not be and the client was told so. */
export function startAsAnswered(
  exchange: Exchange,
  answer: IncomingMessage,
  headers: RawHeaders,
): boolean {
  const { statusCode = 502, statusMessage = "" } = answer;
  if (exchange.start(statusCode, statusMessage, exchange.withOwnLocation(headers))) return true;
  answer.destroy();
  exchange.fail(
    new ProxyError(
      "UPSTREAM_INVALID_ANSWER",
      "the upstream's header holds bytes that HTTP forbids",
    ),
  );
  return false;
}

/** Streams an answer to the client as it comes, at the client's pace; one that is cut short breaks the connection off. */
export function relay(exchange: Exchange, answer: IncomingMessage): void {
  if (!startAsAnswered(exchange, answer, endToEnd(answer.rawHeaders))) return;
  const { reply } = exchange;
  answer.once("error", () => exchange.breakOff(cutShort()));
  const body = new Pump(answer, reply, reply, (bytes) => {
    exchange.answerBytes += bytes;
  });
  // An event stream may stay silent after its header; a header with a body right behind it leaves in one write.
  setImmediate(() => {
    if (!body.began && !exchange.closed) reply.flushHeaders();
  });
}

/** The failure of an answer whose end did not come. */
export function cutShort(): ProxyError {
  return new ProxyError("ANSWER_CUT_SHORT", "the upstream broke off in the middle of its answer");
}
