import zlib from "node:zlib";
import { unpack } from "./unpack.js";

const RAW = { create: () => zlib.createInflateRaw(), manyFrames: false };

// Flags of a member's header, and how long the part of it is that each has (RFC 1952 §2.3.1).
const HEADER_CRC = 2;
const EXTRA = 4;
const NAME = 8;
const COMMENT = 16;
const FIXED_LENGTH = 10;

/** Far more than anybody writes into a name or a comment. */
const HEADER_LIMIT = 64 * 1024;

/**
 * How much the first member of whole gzip data gives, in bytes: what a client gets that reads no further (httpx 0.28.1, `GZipDecoder`). Node's own decoder
 * reads from one member into the next and does not say where.
 *
 * @throws an Error for a header of more than 64 KiB.
 */
export async function firstMemberSize(packed: AsyncIterable<Buffer>): Promise<number> {
  let size = 0;
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  try {
    for await (const piece of unpack(behindHeader(packed), RAW, end)) size += piece.length;
  } catch (error) {
    // Its checksum lies behind it, and that is no deflate data.
    if (!ended) throw error;
  }
  return size;
}

async function* behindHeader(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let header: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of packed) {
    if (header === undefined) {
      yield chunk;
      continue;
    }
    header = Buffer.concat([header, chunk]);
    const length = headerLength(header);
    if (length <= header.length) {
      yield header.subarray(length);
      header = undefined;
    } else if (header.length > HEADER_LIMIT) {
      throw new Error(`the gzip header is longer than ${HEADER_LIMIT} bytes`);
    }
  }
}

/** Length of the header that `bytes` begin with; more than there are while it is not whole. */
function headerLength(bytes: Buffer): number {
  if (bytes.length < FIXED_LENGTH) return Infinity;
  const flags = bytes[3]!;
  let length = FIXED_LENGTH;
  if (flags & EXTRA) {
    if (bytes.length < length + 2) return Infinity;
    length += 2 + bytes.readUInt16LE(length);
  }
  for (const text of [NAME, COMMENT]) {
    if (!(flags & text)) continue;
    const end = bytes.indexOf(0, length);
    if (end < 0) return Infinity;
    length = end + 1;
  }
  return flags & HEADER_CRC ? length + 2 : length;
}
