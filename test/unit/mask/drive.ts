import {
  AnswerScan,
  type CustomSignal,
  type Range,
  type Verdict,
} from "../../../src/mask/verdict.js";

/** The body in chunks of one size. */
export function cut(body: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) chunks.push(body.subarray(at, at + size));
  return chunks;
}

/** A scan that has seen these chunks, each in memory that is overwritten afterwards. */
export function scanOf(
  chunks: readonly Buffer[],
  signals: readonly CustomSignal[] = [],
): AnswerScan {
  const scan = new AnswerScan({ signals });
  for (const chunk of chunks) {
    const borrowed = Buffer.from(chunk);
    scan.push(borrowed);
    borrowed.fill(0x58);
  }
  return scan;
}

/** Answers every wish for a chunk; returns the result and the indexes that were asked for. */
export function drive<T>(
  reading: Generator<number, T, Buffer>,
  chunks: readonly Buffer[],
): { readonly result: T; readonly asked: readonly number[] } {
  const asked: number[] = [];
  let step = reading.next();
  while (step.done !== true) {
    asked.push(step.value);
    step = reading.next(chunks[step.value] as Buffer);
  }
  return { result: step.value, asked };
}

/** The verdict on a body that arrives in these chunks. */
export function judge(chunks: readonly Buffer[], signals: readonly CustomSignal[] = []): Verdict {
  return drive(scanOf(chunks, signals).judge(), chunks).result;
}

/** The text of the value that `find` points at. */
export function findText(chunks: readonly Buffer[], path: readonly string[]): string | undefined {
  const range: Range | undefined = drive(scanOf(chunks).find(path), chunks).result;
  return range && Buffer.concat(chunks).toString("utf8", range.start, range.end);
}
