import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { ProxyError } from "../errors.js";
import { closeUnacknowledged } from "./hand-over.js";
import type { Load, NumberedOrder, Order, Report, Word } from "./messages.js";

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: ProxyError) => void;
}

/** A worker, seen from the first process. */
export class Member {
  readonly slot: number;
  load: Load = { inFlight: 0, heldBytes: 0, spilledBytes: 0 };
  /** Resolves with how it ended: `exit code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  readonly #up: Promise<void>;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #gone = false;

  constructor(slot: number, onReport: (report: Report) => void) {
    this.slot = slot;
    this.#worker = cluster.fork();
    closeUnacknowledged(this.#worker);
    let isUp = (): void => undefined;
    this.#up = new Promise((resolve) => {
      isUp = resolve;
    });
    this.ended = this.#untilItEnds();
    void this.ended.then(isUp);
    this.#worker.on("message", (word: Word) => {
      if (word.type === "up") isUp();
      else if (word.type === "report") {
        this.load = word.load;
        onReport(word);
      } else this.#answered(word);
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /**
   * Has an order carried out; undefined where the worker ends before it is.
   *
   * @throws {ProxyError} with what the worker failed with.
   */
  async ask(order: Order): Promise<unknown> {
    await this.#up;
    if (this.#gone) return undefined;
    this.#lastId += 1;
    const numbered: NumberedOrder = { id: this.#lastId, order };
    return new Promise((resolve, reject) => {
      this.#asked.set(numbered.id, { resolve, reject });
      // Its end is heard of in another way.
      this.#worker.process.send(numbered, undefined, {}, () => undefined);
    });
  }

  /** The same, but after so many milliseconds undefined: a worker may hang. */
  async askFor(ms: number, order: Order): Promise<unknown> {
    return Promise.race([this.ask(order), after(ms, undefined, { ref: false })]);
  }

  kill(): void {
    this.#worker.process.kill("SIGKILL");
  }

  async #untilItEnds(): Promise<string> {
    // A process that could not be made is told of by an error.
    const [code, signal] = (await once(this.#worker, "exit").catch((error: unknown) => [
      error instanceof Error ? error.message : String(error),
    ])) as [number | string, string | null | undefined];
    this.#gone = true;
    for (const { resolve } of this.#asked.values()) resolve(undefined);
    this.#asked.clear();
    return signal ?? (typeof code === "number" ? `exit code ${code}` : code);
  }

  #answered(word: Extract<Word, { readonly id: number }>): void {
    const asked = this.#asked.get(word.id);
    this.#asked.delete(word.id);
    if (word.type === "done") asked?.resolve(word.value);
    else asked?.reject(new ProxyError(word.error.code, word.error.message));
  }
}
