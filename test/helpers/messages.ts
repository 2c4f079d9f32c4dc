import type { Field } from "./http-bytes.js";

/** A masked answer as nemo-gym 0.7.0 writes it, with everything that a verdict reads in its tail. */
export const MASKED =
  '{"responses_create_params":{"input":[]},"response":{"id":"resp_1"},"reward":0.0,' +
  '"mask_sample":true,"failure_kind":"judge_failed","failure_reason":"the judge is gone"}';

/** The same row, scored. */
export const SCORED =
  '{"responses_create_params":{"input":[]},"response":{"id":"resp_1"},"reward":1.0,' +
  '"mask_sample":false,"failure_kind":null,"failure_reason":null}';

/** A JSON answer that is masked and gives `reason`; lone surrogates and controls come out escaped. */
export function maskedFor(reason: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    reward: 0,
    mask_sample: true,
    failure_kind: "judge_failed",
    failure_reason: reason,
    ...more,
  });
}

interface AnswerParts {
  readonly status?: number;
  readonly reason?: string;
  readonly headers?: readonly Field[];
  /** `false` leaves the length out: the caller gives the framing. */
  readonly length?: boolean;
}

function bytesOf(body: string | Uint8Array): Buffer {
  return typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
}

function block(line: string, fields: readonly Field[]): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${line}\r\n${lines.join("")}\r\n`, "latin1");
}

/** The bytes of an answer: JSON with its length, unless `headers` name another type. */
export function answer(body: string | Uint8Array = "", parts: AnswerParts = {}): Buffer {
  const { status = 200, reason = "OK", headers = [], length = true } = parts;
  const bytes = bytesOf(body);
  const fields = [...headers];
  if (!fields.some(([name]) => name.toLowerCase() === "content-type")) {
    fields.push(["content-type", "application/json"]);
  }
  if (length) fields.push(["content-length", String(bytes.length)]);
  return Buffer.concat([block(`HTTP/1.1 ${status} ${reason}`, fields), bytes]);
}

/** The bytes of an answer in chunks of the given texts, closed by the last chunk. */
export function chunkedAnswer(
  parts: readonly (string | Uint8Array)[],
  headers: readonly Field[] = [],
): Buffer {
  return Buffer.concat([
    answer("", { headers: [...headers, ["Transfer-Encoding", "chunked"]], length: false }),
    ...parts.map((part) => chunk(part)),
    Buffer.from("0\r\n\r\n"),
  ]);
}

/** One chunk of a chunked body (RFC 9112 §7.1). */
export function chunk(data: string | Uint8Array): Buffer {
  const bytes = bytesOf(data);
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
}

interface RequestParts {
  readonly headers?: readonly Field[];
  readonly body?: string | Uint8Array;
  readonly version?: "1.0" | "1.1";
}

/** The bytes of a request, with a Host, and a length where there is a body and no framing of the caller's own. */
export function request(method: string, target: string, parts: RequestParts = {}): Buffer {
  const { headers = [], version = "1.1" } = parts;
  const fields = [...headers];
  const has = (name: string): boolean => fields.some(([n]) => n.toLowerCase() === name);
  if (!has("host")) fields.unshift(["Host", "gym.example:8123"]);
  const body = bytesOf(parts.body ?? "");
  if (parts.body !== undefined && !has("content-length") && !has("transfer-encoding")) {
    fields.push(["Content-Length", String(body.length)]);
  }
  return Buffer.concat([block(`${method} ${target} HTTP/${version}`, fields), body]);
}

/** `POST /verify` with a small JSON body. */
export function verify(headers: readonly Field[] = []): Buffer {
  return request("POST", "/verify", { headers, body: '{"id":1}' });
}

/** The fields of a request to go on as a WebSocket. */
export const WEBSOCKET: readonly Field[] = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
];
