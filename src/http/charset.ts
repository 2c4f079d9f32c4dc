import { type RawHeaders, valuesOf } from "./headers.js";

/**
 * Charsets, in lower case and without punctuation, in which JSON's own characters are single bytes of ASCII and no part of any other character. Multi-byte
 * ones such as Shift JIS, where a backslash may be half of a letter, are not among them.
 */
const LIKE_ASCII = /^(?:utf8(?:sig)?|(?:us)?ascii|iso8859\d+|latin\d+|(?:cp|windows)125\d|)$/;

/**
 * The charset of an answer in which its bytes mean something else than in UTF-8; undefined where there is none. aiohttp (3.14.5) and requests (2.32) decode
 * JSON by it, httpx does not look at it.
 */
export function foreignCharset(headers: RawHeaders): string | undefined {
  return valuesOf(headers, "content-type")
    .flatMap((type) => [...type.matchAll(/charset["'\s]*=([^;]*)/gi)])
    .map(([, charset]) => charset!.replace(/["'\s]/g, ""))
    .find((charset) => !LIKE_ASCII.test(charset.toLowerCase().replace(/[-_]/g, "")));
}
