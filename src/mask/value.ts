import type { ChunkReader, Range, Reading } from "./chunks.js";

/** A JSON value in an answer, without the white space around it. */
export interface Value extends Range {
  /** Its first byte; 0 when there is none. */
  readonly first: number;
  /** Its last byte; 0 when there is none. */
  readonly last: number;
}

/** The value in a range that may have white space around it. */
export function* trim(reader: ChunkReader, range: Range): Reading<Value> {
  const end = yield* reader.skipSpaceBack(range);
  if (end === range.start) return { start: end, end, first: 0, last: 0 };
  const last = reader.at(end - 1);
  const start = yield* reader.skipSpace({ start: range.start, end });
  return { start, end, first: reader.at(start), last };
}

/** Whether a value is an object, by its outer bytes. */
export function isObject({ first, last }: Value): boolean {
  return first === 0x7b && last === 0x7d;
}

/** Whether a value is a string, by its first byte. */
export function isText({ first }: Value): boolean {
  return first === 0x22;
}

/** Whether a value is `null`, by its first byte. */
export function isNull({ first }: Value): boolean {
  return first === 0x6e;
}

/** `bool(json.loads(value))` of Python; `undefined` for a number of more than `most` bytes, which would have to be copied. */
export function* isTruthy(
  reader: ChunkReader,
  value: Value,
  most: number,
): Reading<boolean | undefined> {
  const { first, start, end } = value;
  switch (first) {
    case 0x74: // true
      return true;
    case 0x66: // false
    case 0x6e: // null
      return false;
    case 0x22: // a string
      return end - start > 2;
    case 0x7b: // an object
    case 0x5b: // an array
      return (yield* reader.skipSpace({ start: start + 1, end: end - 1 })) < end - 1;
    default: {
      if (end - start > most) return undefined;
      // NaN and the infinities are truthy in Python; JSON.parse would refuse them.
      const number = reader.view(value) ?? (yield* reader.copy(value));
      return Number(number.toString("latin1")) !== 0;
    }
  }
}

/** The text of a JSON string, as much of it as its first `most` bytes hold; `undefined` when the value is none. */
export function* readText(
  reader: ChunkReader,
  value: Value,
  most: number,
): Reading<string | undefined> {
  if (!isText(value)) return undefined;
  if (value.end - value.start <= most) {
    return decodeText((reader.view(value) ?? (yield* reader.copy(value))).toString());
  }
  const begin = { start: value.start, end: value.start + most };
  return decodeBegin((yield* reader.copy(begin)).toString());
}

const LONGEST_ESCAPE = 6;

/** The text that a JSON string begins with, given with its first quote and cut anywhere. */
function decodeBegin(json: string): string | undefined {
  const whole = json.replace(/\uFFFD$/, "");
  for (let cut = 0; cut < LONGEST_ESCAPE; cut++) {
    const text = decodeText(`${whole.slice(0, whole.length - cut)}"`);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The text that a JSON string stands for, given with its quotes; `undefined` when it is not valid. */
export function decodeText(json: string): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}
