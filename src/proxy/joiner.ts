/** From here on a chunk is kept as it came, in bytes. */
const LARGE = 16 * 1024;

const NOTHING: readonly Buffer[] = [];
const EMPTY = Buffer.alloc(0);

/**
 * Joins small chunks, because each that is kept costs some 400 bytes beside its own: an answer in chunks of one byte would take hundreds of times its size.
 * Large ones, and one that is followed by no other small one, stay as they are. Of two that are given out one after the other, at least one is no small one.
 */
export class Joiner {
  #alone: Buffer | undefined;
  #block = EMPTY;
  #used = 0;

  /** What is whole now that this chunk came, in order. */
  push(chunk: Buffer): readonly Buffer[] {
    const waiting = this.#alone?.length ?? this.#used;
    if (waiting + chunk.length <= LARGE) {
      this.#wait(chunk);
      return NOTHING;
    }
    const whole = this.end();
    if (chunk.length >= LARGE) return [...whole, chunk];
    this.#alone = chunk;
    return whole;
  }

  /** What waits for more; nothing does afterwards. */
  end(): readonly Buffer[] {
    const whole = this.#alone ?? Buffer.from(this.#block.subarray(0, this.#used));
    this.#alone = undefined;
    this.#used = 0;
    return whole.length === 0 ? NOTHING : [whole];
  }

  #wait(chunk: Buffer): void {
    if (this.#alone === undefined && this.#used === 0) {
      this.#alone = chunk;
      return;
    }
    if (this.#alone !== undefined) this.#copy(this.#alone);
    this.#alone = undefined;
    this.#copy(chunk);
  }

  #copy(chunk: Buffer): void {
    const size = this.#used + chunk.length;
    if (size > this.#block.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(LARGE, size * 2));
      this.#block.copy(larger, 0, 0, this.#used);
      this.#block = larger;
    }
    chunk.copy(this.#block, this.#used);
    this.#used = size;
  }
}
