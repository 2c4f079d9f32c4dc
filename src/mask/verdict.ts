import { AnswerScan } from "./scan.js";

export type { Range } from "./chunks.js";
export { AnswerScan } from "./scan.js";
export type { CustomSignal } from "./signals.js";

/** What an answer's body says about its own reward. */
export type Verdict =
  | {
      readonly verdict: "masked";
      /** The first signal that holds. */
      readonly signal: string;
      /** All signals that hold: the built-in ones in their order, then a route's own. */
      readonly signals: readonly string[];
      /** The server's name for the failure, as it wrote it (the first KiB), else `unspecified`. */
      readonly kind: string;
      /** The server's words, as it wrote them (the first 64 KiB), else a plain sentence. */
      readonly reason: string;
    }
  | { readonly verdict: "scored" }
  | { readonly verdict: "unknown"; readonly why: "not-an-object" | "not-utf-8" | "too-long" };

/** The verdict on a whole body at hand, by the built-in signals. Never throws. */
export function detectMask(body: Uint8Array): Verdict {
  const chunk = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const scan = new AnswerScan();
  scan.push(chunk);
  const judging = scan.judge();
  let step = judging.next();
  while (step.done !== true) step = judging.next(chunk);
  return step.value;
}
