import type { Transform } from "node:stream";

/** A decoder of Node's zlib, which counts the bytes it took. */
export type Decoder = Transform & { readonly bytesWritten: number };

/** How a coding is undone. */
export interface Unpacking {
  /** A new decoder; `first` is the beginning of what it will be given, two bytes or more where there are so many. */
  create(this: void, first: Buffer): Decoder;
  /** Whether another frame may follow behind the end of one. */
  readonly manyFrames: boolean;
  /** What is put behind the data of a decoder that would say nothing of data that is cut short, and takes it for what is missing; one byte. */
  readonly mark?: Buffer;
}

const FIRST_BYTES = 2;

/**
 * The plain bytes of packed data, frame after frame, at the pace of who reads them. Node's decoders drop without a word what lies behind the end of a frame in
 * the same chunk, and all that follows (seen in 20.20, 22.23 and 24.21; gzip only behind zero bytes), so what one of them did not take goes to the next one.
 *
 * @param behind - called where something lies behind the end of a frame. Not for gzip, whose members Node reads as one frame.
 * @param packed - with the mark behind it, if there is one.
 * @throws an Error for data that is damaged or cut short, and for data behind the end where no other frame may follow.
 */
export async function* unpack(
  packed: AsyncIterable<Buffer>,
  { create, manyFrames, mark }: Unpacking,
  behind?: () => void,
): AsyncGenerator<Buffer> {
  let waiting = Buffer.alloc(0);
  let frame: Frame | undefined;
  try {
    for await (const chunk of packed) {
      let rest: Buffer = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
      waiting = Buffer.alloc(0);
      while (rest.length > 0) {
        if (frame === undefined && rest.length < FIRST_BYTES) {
          waiting = Buffer.from(rest);
          break;
        }
        frame ??= new Frame(create(rest));
        yield* frame.take(rest);
        const left = frame.leftOf(rest);
        if (left.length === 0) break;
        behind?.();
        if (!manyFrames || left.length === rest.length) {
          throw new Error(`there are ${left.length} bytes or more behind the end`);
        }
        frame.close();
        frame = undefined;
        rest = left;
      }
    }
    if (mark !== undefined) {
      if (frame === undefined && waiting.equals(mark)) return;
      throw new Error("the data is cut short");
    }
    frame ??= new Frame(create(waiting));
    yield* frame.finish(waiting);
  } finally {
    frame?.close();
  }
}

/** One decoder, read only as far as somebody wants its output: a small chunk may stand for gigabytes. */
class Frame {
  readonly #decoder: Decoder;
  #given = 0;
  #error: Error | undefined;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
    decoder.on("readable", () => this.#wake());
    decoder.once("end", () => {
      this.#ended = true;
      this.#wake();
    });
    decoder.once("error", (error) => {
      this.#error = error;
      this.#wake();
    });
  }

  /** What comes out for this chunk; it has been taken when this ends. */
  async *take(chunk: Buffer): AsyncGenerator<Buffer> {
    let taken = false;
    this.#given += chunk.length;
    this.#decoder.write(chunk, () => {
      taken = true;
      this.#wake();
    });
    yield* this.#read(() => taken);
  }

  /** The part of the last chunk that lies behind the end of the frame. */
  leftOf(chunk: Buffer): Buffer {
    return chunk.subarray(chunk.length - (this.#given - this.#decoder.bytesWritten));
  }

  /** Takes the last bytes; ends when the decoder has. */
  async *finish(last: Buffer): AsyncGenerator<Buffer> {
    this.#decoder.end(last);
    yield* this.#read(() => this.#ended);
  }

  close(): void {
    this.#decoder.destroy();
  }

  async *#read(isDone: () => boolean): AsyncGenerator<Buffer> {
    for (;;) {
      const done = isDone();
      const wake = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const plain = this.#decoder.read() as Buffer | null;
      if (plain !== null) yield plain;
      else if (this.#error !== undefined) throw this.#error;
      else if (done) return;
      else await wake;
    }
  }
}
