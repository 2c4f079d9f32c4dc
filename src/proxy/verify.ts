import type { IncomingMessage } from "node:http";
import { ProxyError } from "../errors.js";
import { maskedReply } from "../http/reply.js";
import { reasonPhrase } from "../mask/reason.js";
import { AnswerScan, type Verdict } from "../mask/verdict.js";
import { logEvent } from "../observe/log.js";
import { codingsOf, decode } from "./decode.js";
import { drive } from "./drive.js";
import type { Exchange } from "./exchange.js";
import { Hold } from "./hold.js";
import { cutShort, startAsAnswered } from "./relay.js";

/** Holds a verify answer until it is whole and judged; the client then gets it as it was, or the error that stands for a masked one. */
export function holdAndJudge(
  exchange: Exchange,
  answer: IncomingMessage,
  maxAnswerBytes: number,
): void {
  const hold = new Hold(maxAnswerBytes);
  const codings = codingsOf(answer.rawHeaders);
  const scan = new AnswerScan();
  const fail = (error: ProxyError): void => {
    hold.release();
    answer.destroy();
    exchange.fail(error);
  };
  answer.on("data", (chunk: Buffer) => {
    exchange.answerBytes += chunk.length;
    try {
      hold.push(chunk);
    } catch (error) {
      answer.removeAllListeners("data");
      fail(error as ProxyError);
      return;
    }
    if (codings.length === 0) scan.push(chunk);
  });
  answer.once("error", () => fail(cutShort()));
  answer.once("end", () => {
    exchange.upstreamMs = exchange.elapsedMs();
    judge(hold, scan, codings, maxAnswerBytes)
      .then((verdict) => conclude(exchange, answer, hold, verdict))
      .catch((error: unknown) => fail(asProxyError(error)));
  });
  exchange.reply.once("close", () => hold.release());
}

async function judge(
  hold: Hold,
  scan: AnswerScan,
  codings: readonly string[],
  limit: number,
): Promise<Verdict> {
  if (codings.length === 0) return drive(scan.judge(), hold.chunks);
  const plain = await decode(hold.chunks, codings, limit);
  const decodedScan = new AnswerScan();
  for (const chunk of plain.chunks) decodedScan.push(chunk);
  return drive(decodedScan.judge(), plain.chunks);
}

function conclude(exchange: Exchange, answer: IncomingMessage, hold: Hold, verdict: Verdict): void {
  if (exchange.closed) return;
  if (verdict.verdict === "masked") return translate(exchange, answer, verdict);
  if (verdict.verdict === "unknown" && verdict.why === "not-utf-8") {
    throw new ProxyError(
      "ANSWER_UNREADABLE",
      "the answer is JSON in UTF-16 or UTF-32, which maskgate does not read",
    );
  }
  sendHeld(exchange, answer, hold);
}

function translate(
  exchange: Exchange,
  answer: IncomingMessage,
  verdict: Extract<Verdict, { verdict: "masked" }>,
): void {
  const { status } = exchange.route;
  exchange.send(maskedReply(verdict, answer.rawHeaders, status));
  const phrase = reasonPhrase(verdict.kind, verdict.reason);
  const fields = {
    ...exchange.fields(),
    status,
    kind: verdict.kind.slice(0, 100),
    signal: verdict.signal,
  };
  logEvent(exchange.log, "info", "translated", fields, phrase);
}

function sendHeld(exchange: Exchange, answer: IncomingMessage, hold: Hold): void {
  const { reply } = exchange;
  reply.cork();
  if (!startAsAnswered(exchange, answer)) return;
  for (const chunk of hold.chunks) reply.write(chunk);
  reply.end();
  reply.uncork();
}

function asProxyError(error: unknown): ProxyError {
  if (error instanceof ProxyError) return error;
  return new ProxyError("INTERNAL", "maskgate could not judge this answer", { cause: error });
}
