/** What shows where a name can be: some of its bytes, followed by one byte out of a few. */
export interface Hint {
  readonly needle: Buffer;
  /** 1 for every byte that may follow the needle, else 0. */
  readonly next: Uint8Array;
}

/** The hint `bytes` followed by one of the bytes `next`, both ASCII. */
export function hintOf(bytes: string, next: string): Hint {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(next)) table[byte] = 1;
  return { needle: Buffer.from(bytes), next: table };
}

// A name that counts is made of ASCII letters and underscores, so its escapes are \u004x to \u007x.
// Without the backslash, because text that quotes JSON or code is full of those.
const ESCAPE_HINT = hintOf("u00", "4567");

// Each needle without the right byte after it costs one native call more. Text full of them
// (\u001b in terminal output) counts as a sighting, and the walk has to look.
const MAX_NEAR_MISSES = 4096;

/**
 * Where in an answer a name can be at the earliest. A forward search over the chunks as they
 * arrive; it keeps a few bytes of the last chunk, so that a name cut by a chunk border is seen too.
 */
export class Sightings {
  readonly #hints: readonly Hint[];
  readonly #first: number[];
  readonly #misses: number[];
  readonly #keep: number;
  // The end of what came before, and behind it the beginning of the next chunk.
  readonly #seam: Buffer;
  #kept = 0;
  #length = 0;

  /** @param hints what to look for, besides escapes */
  constructor(hints: readonly Hint[]) {
    this.#hints = [ESCAPE_HINT, ...hints];
    this.#first = this.#hints.map(() => Infinity);
    this.#misses = this.#hints.map(() => 0);
    this.#keep = Math.max(...this.#hints.map(({ needle }) => needle.length));
    this.#seam = Buffer.allocUnsafe(2 * this.#keep);
  }

  /** Takes note of the next chunk. */
  push(chunk: Buffer): void {
    const copied = chunk.copy(this.#seam, this.#kept, 0, this.#keep);
    const seamLength = this.#kept + copied;
    if (this.#kept > 0) this.#search(this.#seam.subarray(0, seamLength), this.#length - this.#kept);
    this.#search(chunk, this.#length);
    this.#length += chunk.length;
    if (chunk.length >= this.#keep) {
      this.#kept = chunk.copy(this.#seam, 0, chunk.length - this.#keep);
    } else {
      this.#kept = Math.min(this.#keep, seamLength);
      this.#seam.copyWithin(0, seamLength - this.#kept, seamLength);
    }
  }

  /**
   * Offset below which no name lies that the hint stands for, however it is spelled: `Infinity` when
   * there is none at all, 0 when there is no hint to go by.
   */
  first(hint: Hint | undefined): number {
    if (hint === undefined) return 0;
    return Math.min(this.#firstOf(hint), this.#firstOf(ESCAPE_HINT));
  }

  #firstOf(hint: Hint): number {
    return this.#first[this.#hints.indexOf(hint)] as number;
  }

  #search(bytes: Buffer, offset: number): void {
    for (let n = 0; n < this.#hints.length; n++) {
      if (this.#first[n] === Infinity) this.#searchOne(n, bytes, offset);
    }
  }

  #searchOne(n: number, bytes: Buffer, offset: number): void {
    const { needle, next } = this.#hints[n] as Hint;
    let at = bytes.indexOf(needle);
    while (at >= 0) {
      const after = at + needle.length;
      const misses = this.#misses[n] as number;
      // A needle at the very end is looked at again with the next chunk.
      if (next[bytes[after] ?? 0] === 1 || misses === MAX_NEAR_MISSES) {
        this.#first[n] = offset + at;
        return;
      }
      this.#misses[n] = misses + 1;
      at = bytes.indexOf(needle, after);
    }
  }
}
