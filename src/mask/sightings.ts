// The names that count are ASCII letters and underscores, so their escapes are \u004x to \u007x.
const ESCAPE = Buffer.from("\\u00");
const ESCAPE_LENGTH = 5;
const FIRST_LETTER_ROW = 0x34;
const LAST_LETTER_ROW = 0x37;

// Text full of \u001b (terminal output) would otherwise cost one native call for each.
const MAX_OTHER_ESCAPES = 4096;

/**
 * Where in an answer a name can occur at the earliest. A forward search over the chunks as they
 * arrive; it keeps a few bytes of the last chunk, so a name cut by a chunk border is seen too.
 */
export class Sightings {
  readonly #hints: readonly string[];
  readonly #needles: readonly Buffer[];
  readonly #first: number[];
  readonly #reach: number;
  readonly #keep: number;
  // The end of what came before, and behind it the beginning of the next chunk.
  readonly #seam: Buffer;
  #kept = 0;
  #length = 0;
  #escape = Infinity;
  #otherEscapes = 0;

  /**
   * @param hints the byte strings to look for
   * @param longestName length in bytes of the longest name a hint stands for
   */
  constructor(hints: readonly string[], longestName: number) {
    this.#hints = hints;
    this.#needles = hints.map((hint) => Buffer.from(hint));
    this.#first = hints.map(() => Infinity);
    this.#reach = longestName + 1;
    this.#keep = Math.max(ESCAPE_LENGTH, ...this.#needles.map(({ length }) => length)) - 1;
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
   * An offset such that a backward walk which has passed it has met every member that the hint
   * stands for; `Infinity` when there is none, 0 for a hint that is not known.
   */
  floor(hint: string | undefined): number {
    const first = this.#first[hint === undefined ? -1 : this.#hints.indexOf(hint)] ?? 0;
    // The byte before the opening quote tells whether that quote is an escaped one.
    return Math.max(0, Math.min(first - 1, this.#escape - this.#reach));
  }

  #search(bytes: Buffer, offset: number): void {
    for (let n = 0; n < this.#needles.length; n++) {
      if (this.#first[n] !== Infinity) continue;
      const at = bytes.indexOf(this.#needles[n] as Buffer);
      if (at >= 0) this.#first[n] = offset + at;
    }
    if (this.#escape === Infinity) this.#searchEscape(bytes, offset);
  }

  #searchEscape(bytes: Buffer, offset: number): void {
    let at = bytes.indexOf(ESCAPE);
    while (at >= 0) {
      const row = bytes[at + ESCAPE.length] ?? 0;
      const letter = row >= FIRST_LETTER_ROW && row <= LAST_LETTER_ROW;
      if (letter || ++this.#otherEscapes > MAX_OTHER_ESCAPES) {
        this.#escape = offset + at;
        return;
      }
      at = bytes.indexOf(ESCAPE, at + ESCAPE.length);
    }
  }
}
