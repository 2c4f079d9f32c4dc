import { logEvent, type Logger } from "../observe/log.js";

/** Tells of an upstream that refuses connections, while those who wait for it hear nothing. */
export interface Refusals {
  /** A request was refused with this code and is tried again. */
  refused(code: string): void;
  /** There is a connection. */
  connected(): void;
}

/** One warning until there is a connection again. */
export function tellOfRefusals(log: Logger, upstream: string, connectRetryMs: number): Refusals {
  let told = false;
  return {
    refused: (code) => {
      if (told) return;
      told = true;
      const says = `the upstream ${upstream} does not answer (${code}); a request is tried again for ${connectRetryMs / 1000} s`;
      logEvent(log, "warn", "upstream_refused", { upstream, code }, says);
    },
    connected: () => {
      told = false;
    },
  };
}
