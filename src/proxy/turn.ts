import type { IncomingMessage } from "node:http";

/**
 * How much of all held answers is taken in before the event loop turns, in bytes: a few milliseconds. libuv alone would read 2 MiB from each
 * connection, one after the other, which for 32 large answers at once is a tenth of a second.
 */
const BYTES_A_TURN = 4 * 1024 * 1024;

/** Sees to it that large answers, however many, leave the event loop to others now and then. */
export class Turn {
  #taken = 0;
  #waiting: IncomingMessage[] = [];
  #isNextDue = false;

  /** Takes note of so many bytes of an answer, which is paused for the rest of this turn when they were too many. */
  take(bytes: number, answer: IncomingMessage): void {
    this.#taken += bytes;
    if (!this.#isNextDue) {
      this.#isNextDue = true;
      setImmediate(this.#next);
    }
    if (this.#taken < BYTES_A_TURN) return;
    answer.pause();
    this.#waiting.push(answer);
  }

  readonly #next = (): void => {
    this.#taken = 0;
    this.#isNextDue = false;
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const answer of waiting) answer.resume();
  };
}
