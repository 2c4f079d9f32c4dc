/** One line of a file, without its line feed. */
export type Line =
  | { readonly number: number; readonly bytes: Buffer }
  /** A line that was longer than allowed; its bytes were dropped as they came. */
  | { readonly number: number; readonly bytes: undefined };

const LINE_FEED = 0x0a;

/** Cuts a stream of chunks into lines and holds no more than the line that is not complete yet. */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;
  #number = 1;

  /** @param maxBytes the longest line that is kept; what is longer comes out without its bytes */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes; their bytes are views of it where it holds them whole. */
  *push(chunk: Buffer): Generator<Line> {
    let from = 0;
    for (;;) {
      const feed = chunk.indexOf(LINE_FEED, from);
      if (feed === -1) break;
      yield this.#complete(chunk.subarray(from, feed));
      from = feed + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** The line behind the last line feed, if there is one. */
  *end(): Generator<Line> {
    if (this.#held > 0) yield this.#complete(Buffer.alloc(0));
  }

  #hold(part: Buffer): void {
    this.#held += part.length;
    if (this.#held > this.#maxBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  #complete(last: Buffer): Line {
    const number = this.#number++;
    if (this.#held === 0 && last.length <= this.#maxBytes) return { number, bytes: last };
    this.#hold(last);
    const bytes = this.#held > this.#maxBytes ? undefined : Buffer.concat(this.#parts, this.#held);
    this.#parts = [];
    this.#held = 0;
    return { number, bytes };
  }
}
