import { once } from "node:events";
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { ProxyError } from "../errors.js";

type Decoder = Transform & { readonly bytesWritten: number };

/**
 * The text of a zstd file, frame after frame.
 *
 * @throws {ProxyError} CONFIG_INVALID where Node has no zstd (before 22.15).
 */
export async function* unpackZstd(
  packed: AsyncIterable<Buffer>,
  file: string,
): AsyncGenerator<Buffer> {
  const { createZstdDecompress: create } = zlib as { createZstdDecompress?: () => Decoder };
  if (create === undefined) {
    throw new ProxyError(
      "CONFIG_INVALID",
      `${file}: Node ${process.versions.node} cannot read zstd; use Node 22.15 or later, or: zstd -dc ${file} | maskgate plan -`,
    );
  }
  let frames = new Frames(create());
  for await (const chunk of packed) {
    for (let rest: Buffer | undefined = chunk; rest !== undefined;) {
      const left: Buffer | undefined = await frames.feed(rest);
      yield* frames.take();
      if (left !== undefined) frames = new Frames(create());
      rest = left;
    }
  }
  await frames.close();
  yield* frames.take();
}

/**
 * One decoder. Node's ends without a word behind a frame that does not end with a chunk (seen in 22.23 and 24.21), so what it did not take is handed
 * back for the next one.
 */
class Frames {
  readonly #decoder: Decoder;
  #text: Buffer[] = [];
  #fed = 0;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
    decoder.on("data", (text: Buffer) => this.#text.push(text));
  }

  /** Resolves to the part of the chunk that lies behind the end of a frame, if any. */
  async feed(chunk: Buffer): Promise<Buffer | undefined> {
    const decoder = this.#decoder;
    this.#fed += chunk.length;
    await new Promise<void>((resolve, reject) => {
      decoder.once("error", reject);
      decoder.write(chunk, () => {
        decoder.off("error", reject);
        resolve();
      });
    });
    const behind = this.#fed - decoder.bytesWritten;
    if (behind === 0) return undefined;
    if (!decoder.readableEnded) await once(decoder, "end");
    return chunk.subarray(chunk.length - behind);
  }

  /** The text decoded since the last call. */
  take(): Buffer[] {
    const text = this.#text;
    this.#text = [];
    return text;
  }

  /** Resolves when all is decoded; rejects when a frame was cut short (Node 22 does not notice). */
  async close(): Promise<void> {
    this.#decoder.end();
    if (!this.#decoder.readableEnded) await once(this.#decoder, "end");
  }
}
