import type { ErrorCode } from "../errors.js";

/** What a client gets for a failure: the status, its phrase, and the `maskgate-verdict` that tells it from a mask. */
export interface FailureStatus {
  readonly status: number;
  readonly phrase: string;
  readonly verdict: "upstream-error" | "upstream-timeout" | "uninspectable" | "refused";
}

const upstream = { status: 502, phrase: "Bad Gateway", verdict: "upstream-error" } as const;
const uninspectable = { status: 502, phrase: "Bad Gateway", verdict: "uninspectable" } as const;

/**
 * The only table from failure to status. None of them is 503: that number belongs to masks and to the upstream itself.
 * 499 is nginx's number for a client that left; it is logged and never sent.
 */
const STATUS: Readonly<Record<ErrorCode, FailureStatus>> = {
  UPSTREAM_UNREACHABLE: upstream,
  UPSTREAM_RESET: upstream,
  UPSTREAM_INVALID_ANSWER: upstream,
  ANSWER_CUT_SHORT: upstream,
  UPSTREAM_TIMEOUT: { status: 504, phrase: "Gateway Timeout", verdict: "upstream-timeout" },
  ANSWER_TOO_LARGE: uninspectable,
  ANSWER_UNREADABLE: uninspectable,
  HOLD_FAILED: uninspectable,
  REQUEST_INVALID: { status: 400, phrase: "Bad Request", verdict: "refused" },
  REQUEST_HEADER_TOO_LARGE: {
    status: 431,
    phrase: "Request Header Fields Too Large",
    verdict: "refused",
  },
  REQUEST_TIMEOUT: { status: 408, phrase: "Request Timeout", verdict: "refused" },
  METHOD_REFUSED: { status: 405, phrase: "Method Not Allowed", verdict: "refused" },
  CLIENT_CLOSED: { status: 499, phrase: "Client Closed Request", verdict: "refused" },
  CONFIG_INVALID: upstream,
  LISTEN_FAILED: upstream,
  INTERNAL: uninspectable,
};

/** The status for a failure. */
export function statusOf(code: ErrorCode): FailureStatus {
  return STATUS[code];
}

/** Which failure an error of Node's HTTP client stands for, before any byte of an answer came. */
export function failureOf(error: {
  readonly code?: string | undefined;
  readonly message: string;
}): ErrorCode {
  const code = error.code ?? "";
  if (code.startsWith("HPE_")) return "UPSTREAM_INVALID_ANSWER";
  if (code === "ECONNRESET" || code === "EPIPE") return "UPSTREAM_RESET";
  return "UPSTREAM_UNREACHABLE";
}

/** An error of a connection that did not come about; `errors` tells of each address of the upstream's name. */
interface ConnectFailure {
  readonly code?: string | undefined;
  readonly errors?: readonly { readonly code?: string | undefined }[];
}

/**
 * The code of the refusal, where nothing at all was delivered because there was no connection, and the same request may therefore be sent again. One address
 * that refuses is enough: another one that never answers would otherwise hide that the server is only being started again.
 */
export function refusalCode({ code, errors = [] }: ConnectFailure): string | undefined {
  return [code, ...errors.map((each) => each.code)].find(
    (each) => each === "ECONNREFUSED" || each === "ENOENT",
  );
}
