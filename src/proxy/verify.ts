import type { IncomingMessage } from "node:http";
import { endToEnd } from "../http/headers.js";
import { maskedReply, splicedHeaders } from "../http/reply.js";
import { planSplice } from "../mask/splice.js";
import { AnswerScan } from "../mask/verdict.js";
import { codingsOf } from "./decode.js";
import { drive } from "./drive.js";
import type { Exchange } from "./exchange.js";
import { Hold } from "./hold.js";
import { asProxyError, type Bounds, judgeHeld, type Judgement, tellVerdict } from "./judge.js";
import { cutShort } from "./relay.js";
import { sendHeld } from "./send.js";

/** Holds a verify answer until it is whole and judged; the client then gets it as it was, or what its route makes of a masked one. */
export function holdAndJudge(exchange: Exchange, answer: IncomingMessage, bounds: Bounds): void {
  const { rawHeaders } = answer;
  const codings = codingsOf(rawHeaders);
  const scan = new AnswerScan({ signals: exchange.route.signals });
  const hold = new Hold(bounds.budget, bounds.maxAnswerBytes, scan.push.bind(scan));
  let spilling: Promise<void> | undefined;
  let failed = false;
  const fail = (error: unknown): void => {
    // Bytes that no file took are heard of twice where the end came with them.
    if (failed) return;
    failed = true;
    answer.off("data", take);
    // An answer that came whole ends all the same.
    answer.off("end", end);
    hold.release();
    answer.destroy();
    exchange.fail(asProxyError(error));
  };
  const take = (chunk: Buffer): void => {
    exchange.answerBytes += chunk.length;
    try {
      spilling = hold.push(chunk);
      if (spilling === undefined) {
        bounds.turn.take(chunk.length, answer);
        return;
      }
      answer.pause();
      spilling.then(() => answer.resume(), fail);
    } catch (error) {
      fail(error);
    }
  };
  const conclude = async (): Promise<void> => {
    await spilling;
    await hold.end();
    await hold.settled();
    const judgement = await judgeHeld(
      { chunks: hold, scan, codings, rawHeaders },
      exchange,
      bounds,
    );
    try {
      await reply(exchange, answer, hold, judgement);
    } finally {
      // What goes out waits in memory until then.
      if (exchange.closed) judgement.release();
      else exchange.reply.once("close", judgement.release);
    }
  };
  const end = (): void => {
    exchange.upstreamMs = exchange.elapsedMs();
    conclude().catch(fail);
  };
  answer.on("data", take);
  answer.once("error", () => fail(cutShort()));
  answer.once("end", end);
  exchange.reply.once("close", () => hold.release());
}

async function reply(
  exchange: Exchange,
  answer: IncomingMessage,
  hold: Hold,
  judgement: Judgement,
): Promise<void> {
  const { verdict, decision, chunks, scan } = judgement;
  const { translation, status } = exchange.route;
  const { rawHeaders } = answer;
  if (verdict.verdict !== "masked" || decision.decision === "pass") {
    judgement.release();
    await sendHeld(exchange, answer, endToEnd(rawHeaders), hold);
    tellVerdict(exchange, judgement);
  } else if (translation === "error") {
    exchange.send(maskedReply(verdict, exchange.withOwnLocation(rawHeaders), status));
    tellVerdict(exchange, judgement, status);
  } else {
    const splice = await drive(planSplice(scan, translation), chunks);
    const length = chunks.size - (splice.end - splice.start) + splice.insert.length;
    await sendHeld(exchange, answer, splicedHeaders(rawHeaders, length), chunks, splice);
    tellVerdict(exchange, judgement);
  }
}
