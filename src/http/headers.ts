/** Header fields as Node gives and takes them: `[name, value, name, value, …]`, order, count and case as on the wire. */
export type RawHeaders = readonly string[];

/** RFC 9110 §7.6.1 and the older names that RFC 2616 §13.5.1 listed. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Fields that `Connection` cannot name away: without them the message would have another meaning or another length, and the client would read other
 * bytes than those that were judged. RFC 9110 §7.6.1 forbids to name them.
 */
const NEVER_NAMED: ReadonlySet<string> = new Set([
  "host",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "transfer-encoding",
]);

const NONE: readonly string[] = [];

/** The values of every field of this name (lower case), in order. */
export function valuesOf(headers: RawHeaders, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const field = headers[i]!;
    if (field.length === name.length && field.toLowerCase() === name) values.push(headers[i + 1]!);
  }
  return values;
}

/** Whether any field of this name (lower case) is there. */
export function hasHeader(headers: RawHeaders, name: string): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    const field = headers[i]!;
    if (field.length === name.length && field.toLowerCase() === name) return true;
  }
  return false;
}

/** The comma-separated members of every field of this name, trimmed and in lower case. */
export function tokensOf(headers: RawHeaders, name: string): readonly string[] {
  const values = valuesOf(headers, name);
  if (values.length === 0) return NONE;
  return values
    .flatMap((value) => value.split(","))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== "");
}

/** The fields whose lower-case name `drop` does not hold, in their order. */
export function without(headers: RawHeaders, drop: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (!drop.has(name.toLowerCase())) kept.push(name, headers[i + 1]!);
  }
  return kept;
}

/** `headers` with each value of the field `name` (lower case) changed by `edit`; the same array where there is none. */
export function mapValues(
  headers: RawHeaders,
  name: string,
  edit: (value: string) => string,
): RawHeaders {
  if (!hasHeader(headers, name)) return headers;
  return headers.map((text, i) =>
    i % 2 === 1 && headers[i - 1]!.toLowerCase() === name ? edit(text) : text,
  );
}

const HOP_BY_HOP_OF_REQUESTS: ReadonlySet<string> = new Set(
  [...HOP_BY_HOP].filter((name) => name !== "transfer-encoding"),
);

function dropped(headers: RawHeaders, always: ReadonlySet<string>): ReadonlySet<string> {
  const named = tokensOf(headers, "connection").filter((name) => !NEVER_NAMED.has(name));
  return named.every((name) => always.has(name)) ? always : new Set([...always, ...named]);
}

/** The fields of an answer that go on to the client: all but the hop-by-hop ones (RFC 9110 §7.6.1). */
export function endToEnd(headers: RawHeaders): string[] {
  return without(headers, dropped(headers, HOP_BY_HOP));
}

const BODY_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/**
 * The fields of a request that go on to the upstream. `Transfer-Encoding` stays, because it frames the body that follows. Node would frame a POST that
 * has neither length nor coding as chunked; `content-length: 0` says what the client meant (RFC 9110 §8.6).
 */
export function requestHeaders(method: string, headers: RawHeaders): string[] {
  const kept = without(headers, dropped(headers, HOP_BY_HOP_OF_REQUESTS));
  if (BODY_METHODS.has(method) && !hasBody(kept)) kept.push("content-length", "0");
  return kept;
}

/** Whether a request with these fields carries a body (RFC 9112 §6). */
export function hasBody(headers: RawHeaders): boolean {
  return hasHeader(headers, "transfer-encoding") || hasHeader(headers, "content-length");
}
