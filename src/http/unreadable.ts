import type { Verdict } from "../mask/verdict.js";
import { foreignCharset } from "./charset.js";
import type { RawHeaders } from "./headers.js";

const WHY = {
  "not-utf-8": "the answer is JSON in UTF-16, UTF-32 or EBCDIC, which maskgate does not read",
  "too-long": "a text or number that a signal of the route looks at is longer than 64 KiB",
} as const;

/** Why nobody could check an answer with these fields, whatever it says; undefined where its charset is readable. */
export function unreadableCharset(headers: RawHeaders): string | undefined {
  const charset = foreignCharset(headers);
  return (
    charset &&
    `the answer is in the charset "${charset.slice(0, 80)}", which maskgate does not read`
  );
}

/** Why nobody could check an answer with this verdict; undefined where somebody could, or where it is no object and so no score. */
export function unreadableText(verdict: Verdict): string | undefined {
  if (verdict.verdict !== "unknown" || verdict.why === "not-an-object") return undefined;
  return WHY[verdict.why];
}
