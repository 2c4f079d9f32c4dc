import type { RawHeaders } from "../http/headers.js";
import { isJsonObject, type JsonObject, readJson } from "../plan/json.js";
import { rawMember } from "../plan/rollout.js";

const MAX_HEAD_BYTES = 64 * 1024;

/** An answer that somebody asks about, with what is known of its exchange. */
export interface Given {
  readonly body: Buffer;
  readonly status: number;
  readonly phrase: string;
  readonly headers: RawHeaders;
  /** Undefined where only the answer's body is at hand. */
  readonly request:
    | { readonly method: string; readonly target: string; readonly headers: RawHeaders }
    | undefined;
}

/**
 * The answer in these bytes: a recorded exchange (`{request: {method, path, headers}, response: {status, reason, headers, bodyText}}`), a whole HTTP
 * answer as `curl -i` prints it, else the body of a 200 to a verify request, byte for byte.
 */
export function readGiven(bytes: Buffer): Given {
  return readHttp(bytes) ?? readRecorded(bytes);
}

/**
 * Whether a body is no answer but holds one in some other form of recording, which would be judged as a scored answer: no reward of its own, and
 * members that no answer has.
 */
export function isOtherRecording({ body }: Given): boolean {
  if (rawMember(body, "reward") !== undefined) return false;
  return ["body", "bodyText", "request", "status_code"].some(
    (name) => rawMember(body, name) !== undefined,
  );
}

/** A status line, fields, an empty line and the body, after any interim answers (RFC 9110 §15.2). */
function readHttp(bytes: Buffer): Given | undefined {
  let rest = bytes;
  while (rest.toString("latin1", 0, 5) === "HTTP/") {
    const head = /^HTTP\/\d(?:\.\d)? (\d{3})(?: ([^\r\n]*))?\r?\n((?:[^\r\n]+\r?\n)*)\r?\n/.exec(
      rest.toString("latin1", 0, MAX_HEAD_BYTES),
    );
    if (head === null) return undefined;
    const [whole, status = "", phrase = "", fields = ""] = head;
    rest = rest.subarray(whole.length);
    if (status.startsWith("1")) continue;
    const headers = fields
      .split(/\r?\n/)
      .slice(0, -1)
      .flatMap((line) => /^([^:]*):\s*(.*)$/.exec(line)?.slice(1) ?? []);
    return { body: rest, status: Number(status), phrase, headers, request: undefined };
  }
  return undefined;
}

function readRecorded(bytes: Buffer): Given {
  const exchange = bytes.includes('"bodyText"') ? readJson(bytes.toString()) : undefined;
  const answer = member(exchange, "response");
  const text = answer?.["bodyText"];
  if (answer === undefined || typeof text !== "string") return bare(bytes);
  const request = member(exchange, "request");
  return {
    body: Buffer.from(text),
    status: typeof answer["status"] === "number" ? answer["status"] : 200,
    phrase: typeof answer["reason"] === "string" ? answer["reason"] : "",
    headers: headersOf(answer),
    request: request && {
      method: textOf(request, "method", "POST"),
      target: textOf(request, "path", "/verify"),
      headers: headersOf(request),
    },
  };
}

function bare(body: Buffer): Given {
  const headers = ["content-type", "application/json", "content-length", String(body.length)];
  return { body, status: 200, phrase: "OK", headers, request: undefined };
}

function member(value: unknown, name: string): JsonObject | undefined {
  const found = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(found) ? found : undefined;
}

function textOf(value: JsonObject, name: string, otherwise: string): string {
  const text = value[name];
  return typeof text === "string" ? text : otherwise;
}

function headersOf(value: JsonObject): string[] {
  const { headers } = value;
  if (!Array.isArray(headers)) return [];
  return headers.flatMap((pair: unknown) =>
    Array.isArray(pair) ? [String(pair[0]), String(pair[1])] : [],
  );
}
