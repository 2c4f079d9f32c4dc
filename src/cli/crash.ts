import { writeSync } from "node:fs";
import { type LogEvent, logEvent, type Logger } from "../observe/log.js";

/**
 * Ends the process with 1 at the first error that nobody caught, a rejection included, and says what it was: after it nobody knows what still works, and whoever
 * started maskgate starts it again. Clients in flight see their connection break, never a wrong answer.
 */
export function endOnUncaught(log: Logger, flush: () => void, name = "maskgate"): void {
  process.on("uncaughtException", (error: unknown, origin) => {
    const says = `${name} ends because of an error that nobody caught: ${String(error)}`;
    endWith(log, flush, "crashed", { err: error, origin }, says);
  });
}

/** Says why, whatever the level of the log, and ends the process with 1. */
export function endWith(
  log: Logger,
  flush: () => void,
  event: LogEvent,
  fields: Readonly<Record<string, unknown>>,
  says: string,
): never {
  try {
    if (log.isLevelEnabled("fatal")) {
      logEvent(log, "fatal", event, fields, says);
      flush();
    } else writeSync(2, `${says}\n`);
  } finally {
    process.exit(1);
  }
}
