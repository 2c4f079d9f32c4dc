import { writeSync } from "node:fs";
import { logEvent, type Logger } from "../observe/log.js";

/**
 * Ends the process with 1 at the first error that nobody caught, a rejection included, and says what it was: after it nobody knows what still works, and whoever
 * started maskgate starts it again. Clients in flight see their connection break, never a wrong answer.
 */
export function endOnUncaught(log: Logger, flush: () => void): void {
  process.on("uncaughtException", (error: unknown, origin) => {
    try {
      const says = `maskgate ends because of an error that nobody caught: ${String(error)}`;
      if (log.isLevelEnabled("fatal")) {
        logEvent(log, "fatal", "crashed", { err: error, origin }, says);
        flush();
      } else writeSync(2, `${says}\n`);
    } finally {
      process.exit(1);
    }
  });
}
