import { getHeapStatistics } from "node:v8";
import { ProxyError } from "../errors.js";
import { Joiner } from "./joiner.js";
import { type Extent, SpillFile } from "./spill.js";

const MIB = 1024 * 1024;

/** What a process of many large answers has beyond the held ones: chunks on their way to and from files, and what is given back but not yet collected. */
const BESIDE = 128 * MIB;

/** How much of that is always there. Past it, memory that was given back is not given out again before it is really free. */
const UNCOLLECTED = 64 * MIB;

/** How often that is looked up, in bytes taken. */
const MEASURE_EVERY = MIB;

/** The memory that all held answers share. */
export class HoldBudget {
  readonly limit: number;
  /** What went to files instead since the start, in bytes. */
  spilled = 0;
  readonly #room: number;
  readonly #measure: () => number;
  #used = 0;
  #excess = 0;
  #sinceMeasured = 0;

  /**
   * @param limit - for all that holding answers takes, in bytes. Of a large one, less is given to the answers themselves: two thirds of what is above 64 MiB
   *   is kept free, 128 MiB at most.
   * @param measure - what buffers take in this process, dead ones included, in bytes.
   */
  constructor(limit: number, measure: () => number = externalBytes) {
    this.limit = limit;
    this.#room = limit - Math.min(BESIDE, Math.max(0, ((limit - UNCOLLECTED) * 2) / 3));
    this.#measure = measure;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether there was room; it is taken then. */
  take(bytes: number): boolean {
    this.#lookUp(bytes);
    if (this.#used + this.#excess + bytes > this.#room) return false;
    this.#used += bytes;
    return true;
  }

  /** Takes it whether there is room or not: for the little that waits to be joined with what follows. */
  takeAnyway(bytes: number): void {
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }

  #lookUp(bytes: number): void {
    this.#sinceMeasured += bytes;
    if (this.#sinceMeasured < MEASURE_EVERY || this.limit <= UNCOLLECTED) return;
    this.#sinceMeasured = 0;
    // Half of the room at most: the buffers may be those of a program that maskgate is only part of.
    const excess = this.#measure() - this.#used - UNCOLLECTED;
    this.#excess = Math.min(this.#room / 2, Math.max(0, excess));
  }
}

function externalBytes(): number {
  return getHeapStatistics().external_memory;
}

/** The chunks of an answer, by index; a promise for one that has to be read from a file. */
export interface Chunks {
  readonly count: number;
  /** In bytes. */
  readonly size: number;
  /**
   * @param ahead - the chunks are wanted one after the other: what follows is read along with this one, into memory that the next such call may
   *   overwrite.
   */
  chunk(index: number, ahead?: boolean): Buffer | Promise<Buffer>;
}

/**
 * The chunks of one answer, as they came: by reference, only small ones are joined. What the shared memory has no room for goes to a file of this answer's own.
 */
export class Hold implements Chunks {
  readonly #budget: HoldBudget;
  readonly #limit: number;
  readonly #onKept: ((chunk: Buffer) => void) | undefined;
  readonly #joiner = new Joiner();
  readonly #parts: (Buffer | Extent)[] = [];
  #file: Promise<SpillFile> | undefined;
  #size = 0;
  #inMemory = 0;
  #released = false;

  /**
   * @param limit - the most it takes, in bytes.
   * @param onKept - sees each chunk as `chunk` will give it, in order.
   */
  constructor(budget: HoldBudget, limit: number, onKept?: (chunk: Buffer) => void) {
    this.#budget = budget;
    this.#limit = limit;
    this.#onKept = onKept;
  }

  get count(): number {
    return this.#parts.length;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Takes the next chunk; `chunk` may give it only after `end`.
   *
   * @returns undefined where memory took it; otherwise a promise, and the next chunk may be pushed when it has resolved. It rejects with HOLD_FAILED.
   * @throws {ProxyError} ANSWER_TOO_LARGE past the limit.
   */
  push(chunk: Buffer): Promise<void> | undefined {
    this.#size += chunk.length;
    if (this.#size > this.#limit) {
      throw new ProxyError(
        "ANSWER_TOO_LARGE",
        `the answer is larger than ${this.#limit} bytes, so nobody could check it for a mask`,
      );
    }
    if (this.#released) return undefined;
    this.#budget.takeAnyway(chunk.length);
    this.#inMemory += chunk.length;
    return this.#keepAll(this.#joiner.push(chunk));
  }

  /** Takes the end, after the last chunk was taken. @returns as `push` does. */
  end(): Promise<void> | undefined {
    return this.#keepAll(this.#joiner.end());
  }

  chunk(index: number, ahead = false): Buffer | Promise<Buffer> {
    const part = this.#parts[index];
    if (part === undefined) throw new ProxyError("CLIENT_CLOSED", "the client has gone");
    return Buffer.isBuffer(part) ? part : this.#read(part, ahead);
  }

  /** Resolves when all of it is where it will stay. @throws {ProxyError} HOLD_FAILED when the disk did not take it. */
  async settled(): Promise<void> {
    await (await this.#file)?.settled();
  }

  /** Gives memory and file back; it holds nothing afterwards. */
  release(): void {
    this.#released = true;
    this.#parts.length = 0;
    this.#budget.give(this.#inMemory);
    this.#inMemory = 0;
    const file = this.#file;
    this.#file = undefined;
    // A file that could not be opened or closed has been reported where it was written to.
    file?.then((open) => open.close()).catch(() => undefined);
  }

  #keepAll(chunks: readonly Buffer[]): Promise<void> | undefined {
    let spilled: Promise<void> | undefined;
    for (const chunk of chunks) {
      this.#onKept?.(chunk);
      spilled = spilled === undefined ? this.#keep(chunk) : spilled.then(() => this.#keep(chunk));
    }
    return spilled;
  }

  #keep(chunk: Buffer): Promise<void> | undefined {
    if (this.#released) return undefined;
    this.#budget.give(chunk.length);
    if (this.#budget.take(chunk.length)) {
      this.#parts.push(chunk);
      return undefined;
    }
    this.#inMemory -= chunk.length;
    return this.#spill(chunk);
  }

  async #spill(chunk: Buffer): Promise<void> {
    this.#file ??= SpillFile.open();
    const file = await this.#file;
    if (this.#released) return;
    this.#parts.push(file.append(chunk));
    this.#budget.spilled += chunk.length;
    await file.ready();
  }

  async #read(extent: Extent, ahead: boolean): Promise<Buffer> {
    if (this.#file === undefined) throw new ProxyError("CLIENT_CLOSED", "the client has gone");
    return (await this.#file).read(extent, ahead);
  }
}
