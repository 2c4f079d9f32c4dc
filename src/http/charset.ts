import { type RawHeaders, valuesOf } from "./headers.js";

/**
 * Charsets, in lower case and without punctuation, in which JSON's own characters are single bytes of ASCII and no part of any other character. Multi-byte
 * ones such as Shift JIS, where a backslash may be half of a letter, are not among them.
 */
const LIKE_ASCII = /^(?:utf8(?:sig)?|(?:us)?ascii|iso8859\d+|latin\d+|(?:cp|windows)125\d|)$/;

/** aiohttp (3.14.5) takes any white space of Unicode off a parameter's name. No honest type holds such bytes. */
const UNPRINTABLE = /[^\t -~]/;

/**
 * The charset of an answer in which its bytes mean something else than in UTF-8, or its whole type where nobody can tell; undefined where there is none.
 * aiohttp (3.14.5) and requests (2.34.2) decode JSON by it, httpx (0.28.1) decodes text by it. The first two cut the type at each semicolon, also at one
 * within quotes, so what looks like a parameter to either counts.
 */
export function foreignCharset(headers: RawHeaders): string | undefined {
  for (const type of valuesOf(headers, "content-type")) {
    if (UNPRINTABLE.test(type)) return type;
    for (const parameter of type.split(";")) {
      const [written = "", ...value] = parameter.split("=");
      const name = unquoted(written).toLowerCase();
      // RFC 2231, which httpx knows.
      if (name.startsWith("charset*")) return type;
      if (name !== "charset") continue;
      const charset = unquoted(value.join("="));
      if (!LIKE_ASCII.test(charset.toLowerCase().replace(/[-_]/g, ""))) return charset;
      // httpx reads on behind a semicolon within quotes.
      if (parameter.split('"').length % 2 === 0) return type;
    }
  }
  return undefined;
}

function unquoted(text: string): string {
  return text.replace(/["' \t]/g, "");
}
