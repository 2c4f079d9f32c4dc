import type { ChunkReader, Range, Reading } from "./chunks.js";

const isBracket = (byte: number): boolean => byte === 0x7b || byte === 0x5b;

/** Whether the value in a range without white space around it is an object, by its outer bytes. */
export function* isObject(reader: ChunkReader, value: Range): Reading<boolean> {
  return (yield* reader.byte(value.start)) === 0x7b && (yield* reader.byte(value.end - 1)) === 0x7d;
}

/** Whether the value in a range without white space around it is `null`. */
export function* isNull(reader: ChunkReader, value: Range): Reading<boolean> {
  return (yield* reader.byte(value.start)) === 0x6e;
}

/** `bool(json.loads(value))` of Python, for a range without white space around it. */
export function* isTruthy(reader: ChunkReader, value: Range): Reading<boolean> {
  const first = yield* reader.byte(value.start);
  switch (first) {
    case 0x74: // true
    case 0x4e: // NaN
    case 0x49: // Infinity
      return true;
    case 0x66: // false
    case 0x6e: // null
      return false;
    case 0x22: // a string
      return value.end - value.start > 2;
  }
  if (isBracket(first)) {
    const inner = { start: value.start + 1, end: value.end - 1 };
    return (yield* reader.skipSpace(inner)) < inner.end;
  }
  const number = yield* reader.bytes(value);
  return Number(number.toString("latin1")) !== 0;
}

/** The text of a JSON string in a range without white space around it, else `undefined`. */
export function* readText(reader: ChunkReader, value: Range): Reading<string | undefined> {
  if ((yield* reader.byte(value.start)) !== 0x22) return undefined;
  return decodeText((yield* reader.bytes(value)).toString());
}

/** The text that a JSON string stands for; `undefined` when it is no JSON string. */
export function decodeText(json: string): string | undefined {
  try {
    const text: unknown = JSON.parse(json);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
