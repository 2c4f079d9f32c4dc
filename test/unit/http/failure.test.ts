import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/errors.js";
import { failureOf, statusOf, refusalCode } from "../../../src/http/failure.js";

describe("statusOf", () => {
  it.each<[ErrorCode, number, string]>([
    ["UPSTREAM_UNREACHABLE", 502, "upstream-error"],
    ["UPSTREAM_RESET", 502, "upstream-error"],
    ["UPSTREAM_INVALID_ANSWER", 502, "upstream-error"],
    ["ANSWER_CUT_SHORT", 502, "upstream-error"],
    ["UPSTREAM_TIMEOUT", 504, "upstream-timeout"],
    ["ANSWER_TOO_LARGE", 502, "uninspectable"],
    ["ANSWER_UNREADABLE", 502, "uninspectable"],
    ["INTERNAL", 502, "uninspectable"],
    ["REQUEST_INVALID", 400, "refused"],
    ["REQUEST_HEADER_TOO_LARGE", 431, "refused"],
    ["REQUEST_TIMEOUT", 408, "refused"],
    ["METHOD_REFUSED", 405, "refused"],
  ])("says %s as %i with maskgate-verdict %s", (code, status, verdict) => {
    expect(statusOf(code)).toMatchObject({ status, verdict });
  });
});

describe("failureOf", () => {
  it("tells a reset, nonsense and an unreachable server apart", () => {
    expect(failureOf({ code: "ECONNRESET", message: "" })).toBe("UPSTREAM_RESET");
    expect(failureOf({ code: "EPIPE", message: "" })).toBe("UPSTREAM_RESET");
    expect(failureOf({ code: "HPE_INVALID_CONSTANT", message: "" })).toBe(
      "UPSTREAM_INVALID_ANSWER",
    );
    expect(failureOf({ code: "ENOTFOUND", message: "" })).toBe("UPSTREAM_UNREACHABLE");
    expect(failureOf({ message: "?" })).toBe("UPSTREAM_UNREACHABLE");
  });
});

describe("refusalCode", () => {
  it("is there only where there was no connection at all", () => {
    expect(refusalCode({ code: "ECONNREFUSED" })).toBe("ECONNREFUSED");
    expect(refusalCode({ code: "ENOENT" })).toBe("ENOENT");
    expect(refusalCode({ code: "ECONNRESET" })).toBeUndefined();
  });

  it("is that of any address of the upstream's name", () => {
    const errors = [{ code: "ETIMEDOUT" }, { code: "ECONNREFUSED" }];
    expect(refusalCode({ code: "ETIMEDOUT", errors })).toBe("ECONNREFUSED");
    expect(refusalCode({ code: "ETIMEDOUT", errors: errors.slice(0, 1) })).toBeUndefined();
  });
});
