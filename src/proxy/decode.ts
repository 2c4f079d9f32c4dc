import zlib from "node:zlib";
import { ProxyError } from "../errors.js";
import { mapValues, type RawHeaders, tokensOf } from "../http/headers.js";
import { Few } from "./few.js";
import { firstMemberSize } from "./gzip.js";
import { type Chunks, Hold, type HoldBudget } from "./hold.js";
import { type Decoder, unpack, type Unpacking } from "./unpack.js";

/** The low four bits of zlib's first byte name deflate, and both first bytes together are a multiple of 31 (RFC 1950 §2.2). */
function isZlib(first: Buffer): boolean {
  return first.length > 1 && (first[0]! & 0x0f) === 8 && first.readUInt16BE(0) % 31 === 0;
}

/** urllib3 (2.6) takes no more either. Each may give `maxAnswerBytes`, and a header has room for thousands. */
const MOST_CODINGS = 5;

/** A decoder of these may have a window of 16 MiB or more, which `holdMemoryBytes` does not count; one of gzip and deflate has 32 KiB. */
const WIDE: ReadonlySet<string> = new Set(["br", "zstd"]);

/** As many as libuv has threads for. */
const wide = new Few(4);

const gzip: Unpacking = { create: () => zlib.createGunzip(), manyFrames: true };

// Clients read no second frame of br and deflate, and there is none in their formats (RFC 7932, RFC 1950).
const UNPACKINGS: ReadonlyMap<string, Unpacking> = new Map<string, Unpacking>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["br", { create: () => zlib.createBrotliDecompress(), manyFrames: false }],
  [
    "deflate",
    {
      // Some servers send raw deflate under this name (RFC 9110 §8.4.1.2).
      create: (first) => (isZlib(first) ? zlib.createInflate() : zlib.createInflateRaw()),
      manyFrames: false,
    },
  ],
  ...zstd(),
]);

function zstd(): [string, Unpacking][] {
  const { createZstdDecompress: create } = zlib as { createZstdDecompress?: () => Decoder };
  // Node 22.23 reads zstd that is cut short as if it were whole.
  const mark = Buffer.alloc(1);
  return create === undefined ? [] : [["zstd", { create: () => create(), manyFrames: true, mark }]];
}

/** The codings of an answer in the order they were applied; empty when its bytes are plain. */
export function codingsOf(headers: RawHeaders): string[] {
  return tokensOf(headers, "content-encoding").filter((coding) => coding !== "identity");
}

/**
 * The request's fields with `Accept-Encoding` narrowed to what maskgate can read, so that a mask is never sent in a coding it cannot see into.
 * A list that loses every member becomes `identity`.
 */
export function offerReadable(headers: RawHeaders): RawHeaders {
  return mapValues(headers, "accept-encoding", (value) => {
    const offered = value.split(",");
    const readable = offered.filter((member) => isReadable(member.split(";", 1)[0]!.trim()));
    if (readable.length === offered.length) return value;
    return readable.length === 0 ? "identity" : readable.join(",").trim();
  });
}

function isReadable(coding: string): boolean {
  const name = coding.toLowerCase();
  return name === "" || name === "identity" || UNPACKINGS.has(name);
}

/** What came out of a held answer. */
export interface Plain {
  /** The caller releases it. */
  readonly chunks: Hold;
  /** How much of it came out of the first frame, in bytes, where another one follows. */
  readonly firstFrame: number | undefined;
}

/**
 * The plain bytes of a held answer, undone one coding after the other, each in a stream.
 *
 * @param limit - the most that may come out, in bytes.
 * @throws {ProxyError} ANSWER_UNREADABLE for an unknown coding and too many of them, for data that is damaged or cut short, and for several frames in one of several codings;
 *   ANSWER_TOO_LARGE past the limit.
 */
export async function decode(
  held: Chunks,
  codings: readonly string[],
  budget: HoldBudget,
  limit: number,
): Promise<Plain> {
  if (codings.length > MOST_CODINGS) {
    const says = `the answer has ${codings.length} codings, one over the other`;
    throw new ProxyError("ANSWER_UNREADABLE", says);
  }
  let from: Chunks = held;
  let plain: Hold | undefined;
  let firstFrame: number | undefined;
  for (const coding of codings.toReversed()) {
    const next = new Hold(budget, limit);
    const packed = from;
    const work = async () => undo(packed, coding, next);
    try {
      firstFrame = await (WIDE.has(coding) ? wide.run(packed.size, work) : work());
      if (firstFrame !== undefined && codings.length > 1) {
        throw new ProxyError("ANSWER_UNREADABLE", "one of the answer's codings has several frames");
      }
    } catch (error) {
      next.release();
      throw error;
    } finally {
      plain?.release();
    }
    from = plain = next;
  }
  return { chunks: plain!, firstFrame };
}

/** Undoes one coding. Returns how much came out of the first frame where another one follows. */
async function undo(from: Chunks, coding: string, into: Hold): Promise<number | undefined> {
  const unpacking = UNPACKINGS.get(coding);
  if (unpacking === undefined) {
    throw new ProxyError("ANSWER_UNREADABLE", `the answer's coding "${coding}" cannot be read`);
  }
  let firstFrame: number | undefined;
  const behind = (): void => {
    firstFrame ??= into.size;
  };
  try {
    const packed = inOrder(from, unpacking.mark);
    for await (const plain of unpack(packed, unpacking, behind)) await into.push(plain);
    await into.end();
    await into.settled();
    if (unpacking !== gzip || (await lastSize(from)) === into.size % 2 ** 32) {
      // Nothing but the mark, or as good as nothing, lies behind a frame that gives all.
      return firstFrame === into.size ? undefined : firstFrame;
    }
    return await firstMemberSize(inOrder(from));
  } catch (cause) {
    if (cause instanceof ProxyError) throw cause;
    throw new ProxyError("ANSWER_UNREADABLE", `the answer is no whole ${coding} data`, { cause });
  }
}

/** How much the last member of gzip data gives, in bytes modulo 2^32: its last four bytes (RFC 1952 §2.3.1, ISIZE). */
async function lastSize(packed: Chunks): Promise<number> {
  let last = Buffer.alloc(0);
  for (let index = packed.count - 1; last.length < 4; index--) {
    last = Buffer.concat([(await packed.chunk(index)).subarray(-4), last]);
  }
  return last.readUInt32LE(last.length - 4);
}

async function* inOrder(chunks: Chunks, mark?: Buffer): AsyncGenerator<Buffer> {
  const last = chunks.count - 1;
  for (let index = 0; index <= last; index++) {
    const chunk = await chunks.chunk(index);
    yield index === last && mark !== undefined ? Buffer.concat([chunk, mark]) : chunk;
  }
}
