import { ProxyError } from "../errors.js";

/** The chunks of one answer, as they came, by reference: nothing is joined or copied. */
export class Hold {
  readonly chunks: Buffer[] = [];
  readonly #limit: number;
  #size = 0;

  /** @param limit - the most it takes, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** @throws {ProxyError} ANSWER_TOO_LARGE past the limit. */
  push(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#limit) {
      throw new ProxyError(
        "ANSWER_TOO_LARGE",
        `the answer is larger than ${this.#limit} bytes, so nobody could check it for a mask`,
      );
    }
    this.chunks.push(chunk);
  }

  release(): void {
    this.chunks.length = 0;
  }
}
