import type { IncomingMessage } from "node:http";
import type { ProxyError } from "../errors.js";
import { endToEnd } from "../http/headers.js";
import { maskedReply, splicedHeaders } from "../http/reply.js";
import { applySplice, planSplice } from "../mask/splice.js";
import { AnswerScan } from "../mask/verdict.js";
import { codingsOf } from "./decode.js";
import { drive } from "./drive.js";
import type { Exchange } from "./exchange.js";
import { Hold } from "./hold.js";
import { asProxyError, judgeHeld, type Judgement, logVerdict } from "./judge.js";
import { cutShort, startAsAnswered } from "./relay.js";

/** Holds a verify answer until it is whole and judged; the client then gets it as it was, or what its route makes of a masked one. */
export function holdAndJudge(
  exchange: Exchange,
  answer: IncomingMessage,
  maxAnswerBytes: number,
): void {
  const hold = new Hold(maxAnswerBytes);
  const { rawHeaders } = answer;
  const codings = codingsOf(rawHeaders);
  const scan = new AnswerScan({ signals: exchange.route.signals });
  const fail = (error: ProxyError): void => {
    hold.release();
    answer.destroy();
    exchange.fail(error);
  };
  const take = (chunk: Buffer): void => {
    exchange.answerBytes += chunk.length;
    try {
      hold.push(chunk);
      if (codings.length === 0) scan.push(chunk);
    } catch (error) {
      answer.off("data", take);
      fail(asProxyError(error));
    }
  };
  answer.on("data", take);
  answer.once("error", () => fail(cutShort()));
  answer.once("end", () => {
    exchange.upstreamMs = exchange.elapsedMs();
    judgeHeld({ chunks: hold.chunks, scan, codings, rawHeaders }, exchange, maxAnswerBytes)
      .then((judgement) => conclude(exchange, answer, hold, judgement))
      .catch((error: unknown) => fail(asProxyError(error)));
  });
  exchange.reply.once("close", () => hold.release());
}

async function conclude(
  exchange: Exchange,
  answer: IncomingMessage,
  hold: Hold,
  judgement: Judgement,
): Promise<void> {
  const { verdict, decision } = judgement;
  let status = 200;
  if (verdict.verdict !== "masked" || decision.decision === "pass") {
    sendChunks(exchange, answer, endToEnd(answer.rawHeaders), hold.chunks);
  } else if (exchange.route.translation === "error") {
    status = exchange.route.status;
    exchange.send(maskedReply(verdict, answer.rawHeaders, status));
  } else {
    const { chunks, scan } = judgement;
    const splice = await drive(planSplice(scan, exchange.route.translation), chunks);
    const spliced = applySplice(chunks, splice);
    const length = spliced.reduce((sum, chunk) => sum + chunk.length, 0);
    sendChunks(exchange, answer, splicedHeaders(answer.rawHeaders, length), spliced);
  }
  logVerdict(exchange, verdict, decision, status);
}

function sendChunks(
  exchange: Exchange,
  answer: IncomingMessage,
  headers: readonly string[],
  chunks: readonly Buffer[],
): void {
  if (exchange.closed) return;
  const { reply } = exchange;
  reply.cork();
  if (!startAsAnswered(exchange, answer, headers)) return;
  for (const chunk of chunks) reply.write(chunk);
  reply.end();
  reply.uncork();
}
