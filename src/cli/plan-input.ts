import { createReadStream, type Stats, statSync } from "node:fs";
import { pipeline, Readable } from "node:stream";
import * as zlib from "node:zlib";
import { ProxyError } from "../errors.js";
import { unpackZstd } from "./zstd.js";

/** The name that stands for standard input. */
export const STDIN = "-";

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

const CHUNK_BYTES = 256 * 1024;

/**
 * How many bytes the files have together on the disk; undefined where one of them has no size, such as standard input or a pipe.
 *
 * @throws {ProxyError} CONFIG_INVALID naming every file that is missing or a directory.
 */
export function sizeOf(files: readonly string[]): number | undefined {
  const found = files.filter((file) => file !== STDIN).map(lookUp);
  const problems = found.filter((entry) => typeof entry === "string");
  if (problems.length > 0) throw new ProxyError("CONFIG_INVALID", problems.join("; "));
  const stats = found.filter((entry) => typeof entry !== "string");
  if (stats.length < files.length || stats.some((entry) => !entry.isFile())) return undefined;
  return stats.reduce((sum, entry) => sum + entry.size, 0);
}

function lookUp(file: string): Stats | string {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return `${file}: no such file`;
  return stats.isDirectory() ? `${file}: is a directory; name the .jsonl files in it` : stats;
}

/**
 * The text of a file or of standard input, chunk by chunk; gzip and zstd are told by their first bytes and unpacked, whatever the name says.
 *
 * @param onBytes called with the size of every chunk as it comes from the disk
 * @throws {ProxyError} CONFIG_INVALID for a file that cannot be opened, and for zstd where Node cannot read it (before 22.15).
 */
export async function* readText(
  file: string,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const source = counted(file, onBytes);
  const { start, rest } = await peek(source, ZSTD.length);
  if (start.subarray(0, GZIP.length).equals(GZIP)) {
    const unpacked = zlib.createGunzip();
    pipeline(Readable.from(rest), unpacked, ignoreTold);
    yield* unpacked;
  } else if (start.equals(ZSTD)) {
    yield* unpackZstd(rest, file);
  } else {
    yield* rest;
  }
}

async function* counted(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const stream =
    file === STDIN ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      onBytes(chunk.length);
      yield chunk;
    }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new ProxyError("CONFIG_INVALID", `${file}: cannot be read: ${said}`, { cause: error });
  }
}

/** The first bytes of a source, and a source that still has them. */
async function peek(
  source: AsyncGenerator<Buffer>,
  length: number,
): Promise<{ start: Buffer; rest: AsyncGenerator<Buffer> }> {
  const taken: Buffer[] = [];
  let held = 0;
  while (held < length) {
    const next = await source.next();
    if (next.done === true) break;
    taken.push(next.value);
    held += next.value.length;
  }
  return { start: Buffer.concat(taken).subarray(0, length), rest: chain(taken, source) };
}

async function* chain(
  first: readonly Buffer[],
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}

/** Whoever reads the unpacked stream is told of its failure too. */
function ignoreTold(): void {}
