/** What went wrong, as a stable string that programs can match on. */
export type ErrorCode =
  | "CONFIG_INVALID"
  | "LISTEN_FAILED"
  | "UPSTREAM_UNREACHABLE"
  | "UPSTREAM_RESET"
  | "UPSTREAM_INVALID_ANSWER"
  | "UPSTREAM_TIMEOUT"
  | "ANSWER_CUT_SHORT"
  | "ANSWER_TOO_LARGE"
  | "ANSWER_UNREADABLE"
  | "HOLD_FAILED"
  | "CLIENT_CLOSED"
  | "REQUEST_INVALID"
  | "REQUEST_HEADER_TOO_LARGE"
  | "REQUEST_TIMEOUT"
  | "METHOD_REFUSED"
  | "INTERNAL";

/** The only error class that maskgate throws on purpose. `cause` keeps what the platform said. */
export class ProxyError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ProxyError";
    this.code = code;
  }
}
