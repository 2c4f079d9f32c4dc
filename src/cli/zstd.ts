import * as zlib from "node:zlib";
import { ProxyError } from "../errors.js";
import { type Decoder, unpack } from "../proxy/unpack.js";

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
  yield* unpack(packed, { create: () => create(), manyFrames: true });
}
