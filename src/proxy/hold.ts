import { ProxyError } from "../errors.js";
import { type Extent, SpillFile } from "./spill.js";

/** The memory that all held answers share. */
export class HoldBudget {
  readonly limit: number;
  /** What went to files instead since the start, in bytes. */
  spilled = 0;
  #used = 0;

  /** @param limit - in bytes. */
  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether there was room; it is taken then. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.limit) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** The chunks of an answer, by index; a promise for one that has to be read from a file. */
export interface Chunks {
  readonly count: number;
  /** In bytes. */
  readonly size: number;
  chunk(index: number): Buffer | Promise<Buffer>;
}

/**
 * The chunks of one answer, as they came: by reference, nothing is joined or copied. What the shared memory has no room for goes to a file of this
 * answer's own.
 */
export class Hold implements Chunks {
  readonly #budget: HoldBudget;
  readonly #limit: number;
  readonly #parts: (Buffer | Extent)[] = [];
  #file: Promise<SpillFile> | undefined;
  #size = 0;
  #inMemory = 0;
  #released = false;

  /** @param limit - the most it takes, in bytes. */
  constructor(budget: HoldBudget, limit: number) {
    this.#budget = budget;
    this.#limit = limit;
  }

  get count(): number {
    return this.#parts.length;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Takes the next chunk.
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
    if (this.#budget.take(chunk.length)) {
      this.#inMemory += chunk.length;
      this.#parts.push(chunk);
      return undefined;
    }
    return this.#spill(chunk);
  }

  chunk(index: number): Buffer | Promise<Buffer> {
    const part = this.#parts[index];
    if (part === undefined) throw new ProxyError("CLIENT_CLOSED", "the client has gone");
    return Buffer.isBuffer(part) ? part : this.#read(part);
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

  async #spill(chunk: Buffer): Promise<void> {
    this.#file ??= SpillFile.open();
    const file = await this.#file;
    if (this.#released) return;
    const extent = await file.append(chunk);
    this.#parts.push(extent);
    this.#budget.spilled += chunk.length;
  }

  async #read(extent: Extent): Promise<Buffer> {
    if (this.#file === undefined) throw new ProxyError("CLIENT_CLOSED", "the client has gone");
    return (await this.#file).read(extent);
  }
}
