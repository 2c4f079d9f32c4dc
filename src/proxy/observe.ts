import type { IncomingMessage } from "node:http";
import { AnswerScan } from "../mask/verdict.js";
import { codingsOf } from "./decode.js";
import type { Exchange } from "./exchange.js";
import { Hold } from "./hold.js";
import { judgeHeld, logUnread, logVerdict } from "./judge.js";
import { relay } from "./relay.js";

/** Streams a verify answer as any other, and reads a copy on the side; what comes of that is logged when the answer has gone by. */
export function observe(exchange: Exchange, answer: IncomingMessage, maxAnswerBytes: number): void {
  const hold = new Hold(maxAnswerBytes);
  const codings = codingsOf(answer.rawHeaders);
  const scan = new AnswerScan({ signals: exchange.route.signals });
  const { rawHeaders } = answer;
  const look = (chunk: Buffer): void => {
    try {
      hold.push(chunk);
      if (codings.length === 0) scan.push(chunk);
    } catch (error) {
      answer.off("data", look);
      answer.off("end", conclude);
      hold.release();
      logUnread(exchange, error);
    }
  };
  const conclude = (): void => {
    judgeHeld({ chunks: hold.chunks, scan, codings, rawHeaders }, exchange, maxAnswerBytes)
      .then(({ verdict, decision }) => logVerdict(exchange, verdict, decision))
      .catch((error: unknown) => logUnread(exchange, error))
      .finally(() => hold.release());
  };
  answer.on("data", look);
  answer.once("end", conclude);
  relay(exchange, answer);
}
