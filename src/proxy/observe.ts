import type { IncomingMessage } from "node:http";
import { ProxyError } from "../errors.js";
import { AnswerScan } from "../mask/verdict.js";
import { codingsOf } from "./decode.js";
import type { Exchange } from "./exchange.js";
import { Hold } from "./hold.js";
import { type Bounds, judgeHeld, logUnread, tellVerdict } from "./judge.js";
import { relay } from "./relay.js";

/**
 * Streams a verify answer as any other, and reads a copy on the side; what comes of that is logged when the answer has gone by. The client waits for
 * nothing: an answer that memory has no room for is not looked at, because a file would have to be waited for.
 */
export function observe(exchange: Exchange, answer: IncomingMessage, bounds: Bounds): void {
  const { rawHeaders } = answer;
  const codings = codingsOf(rawHeaders);
  const scan = new AnswerScan({ signals: exchange.route.signals });
  const hold = new Hold(bounds.budget, bounds.maxAnswerBytes, scan.push.bind(scan));
  const giveUp = (error: unknown): void => {
    answer.off("data", look);
    answer.off("end", conclude);
    hold.release();
    logUnread(exchange, error);
  };
  const hasKept = (spilled: Promise<void> | undefined): boolean => {
    if (spilled === undefined) return true;
    spilled.catch(() => undefined);
    giveUp(new ProxyError("HOLD_FAILED", "holdMemoryBytes has no room for a copy of it"));
    return false;
  };
  const look = (chunk: Buffer): void => {
    try {
      hasKept(hold.push(chunk));
    } catch (error) {
      giveUp(error);
    }
  };
  const judge = async (): Promise<void> => {
    const held = { chunks: hold, scan, codings, rawHeaders };
    const judgement = await judgeHeld(held, exchange, bounds);
    judgement.release();
    tellVerdict(exchange, judgement);
  };
  const conclude = (): void => {
    if (!hasKept(hold.end())) return;
    judge()
      .catch((error: unknown) => logUnread(exchange, error))
      .finally(() => hold.release());
  };
  answer.on("data", look);
  answer.once("end", conclude);
  answer.once("error", () => hold.release());
  relay(exchange, answer);
}
