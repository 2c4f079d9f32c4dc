import { isSpace } from "./space.js";

/** Bytes `start` to before `end` of an answer. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Work that asks for chunks: yields the index of the one it wants and is answered with its bytes. */
export type Reading<T> = Generator<number, T, Buffer>;

/** Where each chunk of an answer begins. */
export class ChunkOffsets {
  readonly #starts: number[] = [];
  #length = 0;

  /** Takes note of the next chunk. */
  push(chunk: Buffer): void {
    this.#starts.push(this.#length);
    this.#length += chunk.length;
  }

  /** Index of the chunk that holds the byte at `position`. */
  indexOf(position: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.startOf(middle) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Offset of the first byte of a chunk. */
  startOf(index: number): number {
    return this.#starts[index] as number;
  }
}

/** Reads an answer by offset and holds on to one chunk at a time. */
export class ChunkReader {
  readonly #offsets: ChunkOffsets;

  /** The chunk asked for last. */
  chunk: Buffer = Buffer.alloc(0);

  /** Offset of its first byte. */
  base = 0;

  constructor(offsets: ChunkOffsets) {
    this.#offsets = offsets;
  }

  /** Makes the chunk that holds the byte at `position` the present one. */
  *seek(position: number): Reading<void> {
    if (position >= this.base && position < this.base + this.chunk.length) return;
    const index = this.#offsets.indexOf(position);
    this.chunk = yield index;
    this.base = this.#offsets.startOf(index);
  }

  /** The byte at `position`. */
  *byte(position: number): Reading<number> {
    yield* this.seek(position);
    return this.chunk[position - this.base] as number;
  }

  /** The bytes of a range; a view where one chunk holds them all, else a copy. */
  *bytes({ start, end }: Range): Reading<Buffer> {
    yield* this.seek(start);
    if (end - this.base <= this.chunk.length) {
      return this.chunk.subarray(start - this.base, end - this.base);
    }
    const whole = Buffer.allocUnsafe(end - start);
    for (let at = start; at < end;) {
      yield* this.seek(at);
      at += this.chunk.copy(whole, at - start, at - this.base);
    }
    return whole;
  }

  /** The range without the white space around it. */
  *trim(range: Range): Reading<Range> {
    const start = yield* this.skipSpace(range);
    let { end } = range;
    while (end > start && isSpace(yield* this.byte(end - 1))) end--;
    return { start, end };
  }

  /** Offset of the first byte in a range that is no white space, else its end. */
  *skipSpace({ start, end }: Range): Reading<number> {
    let at = start;
    while (at < end && isSpace(yield* this.byte(at))) at++;
    return at;
  }
}
