import { type RawHeaders, valuesOf } from "./headers.js";

/**
 * Charsets, in lower case and without punctuation, in which JSON's own characters are single bytes of ASCII and no part of any other character. Multi-byte
 * ones such as Shift JIS, where a backslash may be half of a letter, are not among them.
 */
const LIKE_ASCII = /^(?:utf8(?:sig)?|(?:us)?ascii|iso8859\d+|latin\d+|(?:cp|windows)125\d|)$/;

/**
 * What clients may read as a charset's name in more than one way: aiohttp (3.14.5) takes any white space of Unicode off it, others know RFC 2231
 * (`charset*`). No honest type holds it, nor bytes outside printable ASCII.
 */
const AMBIGUOUS = /charset(?!["' \t]*=)|[^\t -~]/i;

/**
 * The charset of an answer in which its bytes mean something else than in UTF-8, or its whole type where nobody can tell; undefined where there is none.
 * aiohttp (3.14.5) and requests (2.32) decode JSON by it, httpx does not look at it.
 */
export function foreignCharset(headers: RawHeaders): string | undefined {
  for (const type of valuesOf(headers, "content-type")) {
    if (AMBIGUOUS.test(type)) return type;
    for (const [, written] of type.matchAll(/charset["' \t]*=([^;]*)/gi)) {
      const charset = written!.replace(/["' \t]/g, "");
      if (!LIKE_ASCII.test(charset.toLowerCase().replace(/[-_]/g, ""))) return charset;
    }
  }
  return undefined;
}
