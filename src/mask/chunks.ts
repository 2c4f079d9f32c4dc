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

const NO_CHUNK = Buffer.alloc(0);

/**
 * Reads an answer by offset and holds on to one chunk at a time. What is at hand is read by plain
 * calls, because a generator for each byte or name would cost more than the reading.
 */
export class ChunkReader {
  readonly #offsets: ChunkOffsets;

  /** The chunk asked for last. */
  chunk: Buffer = NO_CHUNK;

  /** Offset of its first byte. */
  base = 0;

  constructor(offsets: ChunkOffsets) {
    this.#offsets = offsets;
  }

  /** Whether the byte at `position` is at hand. */
  holds(position: number): boolean {
    return position >= this.base && position < this.base + this.chunk.length;
  }

  /** The byte at a position that is at hand. */
  at(position: number): number {
    return this.chunk[position - this.base] as number;
  }

  /** The bytes of a range if all are at hand. */
  view({ start, end }: Range): Buffer | undefined {
    if (start < this.base || end > this.base + this.chunk.length) return undefined;
    return this.chunk.subarray(start - this.base, end - this.base);
  }

  /** Asks for the chunk that holds the byte at `position`. */
  *seek(position: number): Reading<void> {
    const index = this.#offsets.indexOf(position);
    this.chunk = yield index;
    this.base = this.#offsets.startOf(index);
  }

  /** Hands the bytes of a range to `take`, piece by piece and in order; the pieces are views. */
  *visit({ start, end }: Range, take: (piece: Buffer) => void): Reading<void> {
    for (let at = start; at < end;) {
      if (!this.holds(at)) yield* this.seek(at);
      const piece = this.chunk.subarray(at - this.base, end - this.base);
      take(piece);
      at += piece.length;
    }
  }

  /** A copy of the bytes of a range. */
  *copy(range: Range): Reading<Buffer> {
    const copy = Buffer.allocUnsafe(range.end - range.start);
    let at = 0;
    yield* this.visit(range, (piece) => {
      at += piece.copy(copy, at);
    });
    return copy;
  }

  /** Offset of the first byte in a range that is no white space, else its end. */
  *skipSpace({ start, end }: Range): Reading<number> {
    for (let at = start; at < end; at++) {
      if (!this.holds(at)) yield* this.seek(at);
      if (!isSpace(this.at(at))) return at;
    }
    return end;
  }

  /** Offset after the last byte in a range that is no white space, else its start. */
  *skipSpaceBack({ start, end }: Range): Reading<number> {
    for (let at = end; at > start; at--) {
      if (!this.holds(at - 1)) yield* this.seek(at - 1);
      if (!isSpace(this.at(at - 1))) return at;
    }
    return start;
  }
}
