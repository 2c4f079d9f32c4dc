import type { ErrorCode } from "../errors.js";
import { reasonPhrase } from "../mask/reason.js";
import type { Verdict } from "../mask/verdict.js";
import { statusOf } from "./failure.js";
import { endToEnd, mapValues, type RawHeaders, without } from "./headers.js";

/** A whole reply as a value: nothing of it has been sent yet. */
export interface Reply {
  readonly status: number;
  readonly phrase: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** Fields that describe the body that is replaced, or how long it may be kept (RFC 9110 §8, RFC 9530, RFC 9111), and `Retry-After`. */
const OF_THE_OLD_BODY: ReadonlySet<string> = new Set([
  "accept-ranges",
  "age",
  "cache-control",
  "content-digest",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-md5",
  "content-range",
  "content-type",
  "digest",
  "etag",
  "expires",
  "last-modified",
  "maskgate-verdict",
  "pragma",
  "repr-digest",
  "retry-after",
]);

/** Fields that were true of the bytes before some of them changed (RFC 9110 §8.8, RFC 9530), and a verdict that somebody else gave. */
const OF_THE_OLD_BYTES: ReadonlySet<string> = new Set([
  "content-digest",
  "content-encoding",
  "content-md5",
  "digest",
  "etag",
  "maskgate-verdict",
  "repr-digest",
]);

const PROBLEM = "application/problem+json";

/**
 * The error that stands for a masked answer (RFC 9457). The phrase carries kind and reason, because clients put the phrase and not
 * the body into their exception; the body carries all of the verdict's reason. Lone surrogates stay readable as `\uXXXX`.
 *
 * @param headers - the answer's own fields; cookies and everything else that is not about the old body are kept.
 */
export function maskedReply(
  verdict: Extract<Verdict, { verdict: "masked" }>,
  headers: RawHeaders,
  status = 503,
): Reply {
  const body = problem({
    type: "urn:maskgate:problem:masked",
    title: "The reward of this answer is not a measurement",
    status,
    detail: verdict.reason,
    failure_kind: verdict.kind,
    failure_reason: verdict.reason,
    signal: verdict.signal,
    mask_sample: true,
  });
  const kept = without(endToEnd(headers), OF_THE_OLD_BODY);
  kept.push(...describing(body, "masked"));
  return { status, phrase: reasonPhrase(verdict.kind, verdict.reason), headers: kept, body };
}

/** The answer's fields for a body of `length` bytes in which a translation changed one value. */
export function splicedHeaders(headers: RawHeaders, length: number): RawHeaders {
  const kept = without(endToEnd(headers), OF_THE_OLD_BYTES);
  kept.push("maskgate-verdict", "masked");
  return mapValues(kept, "content-length", () => String(length));
}

/** The reply for a failure of the way to the upstream, or of an answer that nobody could check. */
export function failureReply(code: ErrorCode, detail: string): Reply {
  const { status, phrase, verdict } = statusOf(code);
  const body = problem({
    type: `urn:maskgate:problem:${verdict}`,
    title: phrase,
    status,
    detail,
    code,
  });
  return { status, phrase, headers: describing(body, verdict), body };
}

function describing(body: Buffer, verdict: string): string[] {
  return [
    "content-type",
    PROBLEM,
    "content-length",
    String(body.length),
    "cache-control",
    "no-store",
    "maskgate-verdict",
    verdict,
  ];
}

function problem(members: Record<string, unknown>): Buffer {
  return Buffer.from(JSON.stringify(members));
}
