import type { Range, Reading } from "./chunks.js";
import type { AnswerScan } from "./scan.js";

/** Bytes of an answer that give way to others; everything around them stays as the server wrote it. */
export interface Splice extends Range {
  readonly insert: Buffer;
}

const FLAG = '"mask_sample":true';

/**
 * The change that a translation makes to a masked answer: `null` and `nan` replace the value of `reward`, `mirror` sets `instance_config.mask_sample`.
 * Of doubled members the last one is changed, because it is the one that counts; one that is missing is added as the last.
 */
export function* planSplice(
  scan: AnswerScan,
  translation: "null" | "mirror" | "nan",
): Reading<Splice> {
  if (translation === "mirror") return yield* mirror(scan);
  const value = translation === "nan" ? "NaN" : "null";
  const reward = yield* scan.find(["reward"]);
  return reward === undefined ? append(scan, `"reward":${value}`) : replace(reward, value);
}

function* mirror(scan: AnswerScan): Reading<Splice> {
  const flag = yield* scan.find(["instance_config", "mask_sample"]);
  if (flag !== undefined) return replace(flag, "true");
  const config = yield* scan.find(["instance_config"]);
  if (config === undefined) return append(scan, `"instance_config":{${FLAG}}`);
  const start = config.start + 1;
  const [first] = yield* scan.bytes({ start: config.start, end: start });
  if (first !== 0x7b) return replace(config, `{${FLAG}}`);
  const end = config.end - 1;
  const isEmpty = (yield* scan.skipSpace({ start, end })) === end;
  return replace({ start, end: start }, isEmpty ? FLAG : `${FLAG},`);
}

/** A masked answer has at least the member that masks it, so a comma is always right. */
function append(scan: AnswerScan, member: string): Splice {
  const start = scan.end - 1;
  return replace({ start, end: start }, `,${member}`);
}

function replace({ start, end }: Range, text: string): Splice {
  return { start, end, insert: Buffer.from(text) };
}

/** One chunk of an answer after a splice, in pieces; untouched bytes are views of the old ones. `at` is the chunk's offset in the answer. */
export function spliceChunk(chunk: Buffer, at: number, { start, end, insert }: Splice): Buffer[] {
  const before = chunk.subarray(0, Math.max(0, start - at));
  const after = chunk.subarray(Math.max(0, end - at));
  const isHere = at <= start && start < at + chunk.length;
  return [before, isHere ? insert : EMPTY, after].filter((piece) => piece.length > 0);
}

const EMPTY = Buffer.alloc(0);
