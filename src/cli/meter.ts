import { progressBar, progressSentence } from "../plan/progress.js";

/** What is counted while files are read. */
export interface Counted {
  readonly rollouts: number;
  readonly masked: number;
}

/** Shows on standard error how far the reading is. */
export interface Meter {
  /** Cheap: prints only when the last print was long enough ago. */
  show(bytes: number, counted: Counted): void;
  /** Takes the bar away. */
  end(): void;
}

const BAR_EVERY_MS = 100;
const SENTENCE_EVERY_MS = 5000;
const CLEAR_LINE = "\r\u001B[K";

/** A bar on a terminal, a plain line now and then anywhere else, nothing when `quiet`. */
export function startMeter(totalBytes: number | undefined, quiet: boolean): Meter {
  if (quiet) return { show: () => {}, end: () => {} };
  const { stderr } = process;
  const terminal = stderr.isTTY;
  const every = terminal ? BAR_EVERY_MS : SENTENCE_EVERY_MS;
  const start = performance.now();
  let last = terminal ? -Infinity : start;
  return {
    show: (bytes, { rollouts, masked }) => {
      const now = performance.now();
      if (now - last < every) return;
      last = now;
      const progress = { bytes, totalBytes, rollouts, masked, seconds: (now - start) / 1000 };
      if (terminal) stderr.write(CLEAR_LINE + progressBar(progress));
      else stderr.write(`maskgate: ${progressSentence(progress)}\n`);
    },
    end: () => {
      if (terminal) stderr.write(CLEAR_LINE);
    },
  };
}
