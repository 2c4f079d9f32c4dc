import { describe, expect, it } from "vitest";
import { unreadableCharset, unreadableText } from "../../../src/http/unreadable.js";

const typed = (type: string): string[] => ["Content-Type", type];

describe("why nobody could check an answer", () => {
  it("names the charset, of a long one the beginning", () => {
    expect(unreadableCharset(typed("application/json; charset=utf-16"))).toMatch(/"utf-16"/);
    const long = unreadableCharset(typed(`application/json; charset=${"x".repeat(1000)}`));
    expect(long?.length).toBeLessThan(200);
    expect(unreadableCharset(typed("application/json; charset=utf-8"))).toBeUndefined();
  });

  it.each([
    ["not-utf-8", /UTF-16/],
    ["too-long", /longer than 64 KiB/],
  ] as const)("says why of text that is %s", (why, says) => {
    expect(unreadableText({ verdict: "unknown", why })).toMatch(says);
  });

  it("is not asked of what is no object, or was checked", () => {
    expect(unreadableText({ verdict: "unknown", why: "not-an-object" })).toBeUndefined();
    expect(unreadableText({ verdict: "scored" })).toBeUndefined();
  });
});
