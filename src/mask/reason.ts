import { NO_REASON, UNSPECIFIED_KIND } from "./signals.js";

const MAX_PHRASE_BYTES = 200;

// More than a phrase can hold even if most of it is white space; a reason may be megabytes.
const MAX_READ_CHARACTERS = 4096;

const fold = (text: string): string =>
  text
    .trimStart()
    .slice(0, MAX_READ_CHARACTERS)
    .replace(/\s+/g, " ")
    .replace(/[^\x20-\x7e]/gu, "?")
    .trimEnd();

/**
 * The phrase of the status line, `Masked: <kind>: <reason>`: printable ASCII, every other character
 * a `?`, white space folded, at most 200 bytes. httpx quotes it in its exception (measured, 0.28.1);
 * Node refuses controls in it, aiohttp more than 8,190 bytes.
 */
export function reasonPhrase(kind: string, reason: string): string {
  const phrase = `Masked: ${fold(kind) || UNSPECIFIED_KIND}: ${fold(reason) || NO_REASON}`;
  return phrase.slice(0, MAX_PHRASE_BYTES).trimEnd();
}
