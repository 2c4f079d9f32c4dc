/** A JSON object, or any other value of a document that has not been looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

const BYTE_ORDER_MARK = "\uFEFF";

/** Whether a parsed value is an object and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The value of a text that Python's `json.loads` reads, `undefined` when it is none: NaN and the two Infinities, which are no JSON but which Python
 * writes and reads, come back as `null`, and a byte order mark is passed over.
 */
export function readJson(text: string): unknown {
  const bare = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const value = parse(bare);
  if (value !== undefined || !/NaN|Infinity/.test(bare)) return value;
  return parse(withoutConstants(bare));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function withoutConstants(text: string): string {
  let result = "";
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const outside = quote === -1 ? text.length : quote;
    result += text.slice(at, outside).replaceAll(/-?Infinity|NaN/g, "null");
    at = quote === -1 ? text.length : endOfString(text, quote);
    result += text.slice(outside, at);
  }
  return result;
}

function endOfString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); ; close = text.indexOf('"', close + 1)) {
    if (close === -1) return text.length;
    let escapes = 0;
    while (text[close - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return close + 1;
  }
}
