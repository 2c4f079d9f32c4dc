import { setImmediate } from "node:timers/promises";

/** How much is read before other requests get their turn, in bytes: about a millisecond of a backward walk. */
const BYTES_A_TURN = 1024 * 1024;

/** Runs a scan to its end over these chunks, and lets the event loop turn now and then. */
export async function drive<T>(
  steps: Generator<number, T, Buffer>,
  chunks: readonly Buffer[],
): Promise<T> {
  let step = steps.next();
  let sinceTurn = 0;
  while (step.done !== true) {
    const chunk = chunks[step.value]!;
    sinceTurn += chunk.length;
    if (sinceTurn > BYTES_A_TURN) {
      sinceTurn = 0;
      await setImmediate();
    }
    step = steps.next(chunk);
  }
  return step.value;
}
