import fs from "node:fs";
import type { LogEvent } from "../observe/log.js";

/** How long until what takes nothing is tried again, and how long in all where everything waits for it, in milliseconds. */
const RETRY_MS = 20;
const PATIENCE_MS = 1000;

/** How much may wait while nobody takes it, in characters. */
const MOST_WAITING = 8 * 1024 * 1024;

/** Writes lines to a file descriptor, beside all else. What a full disk did not take is tried again with the next line; nobody is waited for without a limit. What is too much to wait is left out, and a line says how much that was. */
export class LineStream {
  readonly #fd: number;
  #waiting = "";
  #leftOut = 0;
  #batch: Buffer = Buffer.alloc(0);
  #state: "idle" | "writing" | "retrying" | "closed" = "idle";

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(lines: string): void {
    if (this.#state === "closed") return;
    if (this.#waiting.length > MOST_WAITING) {
      this.#leftOut += 1;
    } else {
      this.#tellLeftOut();
      this.#waiting += lines;
    }
    if (this.#state === "idle") this.#next();
  }

  /** Writes out the rest while all else waits. What is being written already may come after it. */
  writeOut(): void {
    if (this.#state === "closed") return;
    this.#tellLeftOut();
    const waiting = Buffer.from(this.#waiting);
    let rest = this.#state === "writing" ? waiting : Buffer.concat([this.#batch, waiting]);
    this.#state = "closed";
    const until = performance.now() + PATIENCE_MS;
    while (rest.length > 0 && performance.now() < until) {
      try {
        rest = rest.subarray(fs.writeSync(this.#fd, rest));
      } catch (error) {
        if (!isBusy(error)) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }

  #tellLeftOut(): void {
    if (this.#leftOut === 0) return;
    const time = new Date().toISOString();
    const msg = `${this.#leftOut} lines were left out because nobody took the log`;
    const event: LogEvent = "log_lost";
    const line = { level: "warn", time, event, lines: this.#leftOut, msg };
    this.#leftOut = 0;
    this.#waiting += `${JSON.stringify(line)}\n`;
  }

  #next(): void {
    if (this.#batch.length === 0) {
      this.#batch = Buffer.from(this.#waiting);
      this.#waiting = "";
    }
    if (this.#batch.length === 0) {
      this.#state = "idle";
      return;
    }
    this.#state = "writing";
    fs.write(this.#fd, this.#batch, (error, written) => {
      this.#batch = this.#batch.subarray(written);
      if (this.#state === "closed") return;
      if (error === null) this.#next();
      else if (isBusy(error)) this.#retry();
      else if (error.code === "EPIPE") this.#close();
      else this.#state = "idle";
    });
  }

  #retry(): void {
    this.#state = "retrying";
    setTimeout(() => {
      if (this.#state === "retrying") this.#next();
    }, RETRY_MS);
  }

  /** Whoever read the lines has gone. */
  #close(): void {
    this.#state = "closed";
    this.#waiting = "";
    this.#batch = Buffer.alloc(0);
  }
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}
