import type { RawHeaders } from "../http/headers.js";
import { isJsonObject, type JsonObject, readJson } from "../plan/json.js";

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
 * The answer in these bytes: a recorded exchange (`{request: {method, path, headers}, response: {status, reason, headers, bodyText}}`), else the body
 * of a 200 to a verify request, byte for byte.
 */
export function readGiven(bytes: Buffer): Given {
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
