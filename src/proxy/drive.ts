import { setImmediate } from "node:timers/promises";
import type { Chunks } from "./hold.js";

/** How much is read before other requests get their turn, in bytes: about a millisecond of a backward walk. */
const BYTES_A_TURN = 1024 * 1024;

/** Runs a scan to its end over these chunks, and lets the event loop turn now and then. */
export async function drive<T>(steps: Generator<number, T, Buffer>, chunks: Chunks): Promise<T> {
  let step = steps.next();
  let sinceTurn = 0;
  while (step.done !== true) {
    const wanted = chunks.chunk(step.value);
    const chunk = Buffer.isBuffer(wanted) ? wanted : await wanted;
    sinceTurn += chunk.length;
    if (sinceTurn > BYTES_A_TURN) {
      sinceTurn = 0;
      await setImmediate();
    }
    step = steps.next(chunk);
  }
  return step.value;
}
