import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reasonPhrase } from "../../../src/mask/reason.js";

describe("the phrase of the status line (case A26)", () => {
  it("names the kind and the reason", () => {
    expect(reasonPhrase("judge_failed", "HTTP 500 from the judge")).toBe(
      "Masked: judge_failed: HTTP 500 from the judge",
    );
  });

  it.each([
    ["a\r\nSet-Cookie: evil=1\r\n\r\nHTTP/1.1 200 OK", "a Set-Cookie: evil=1 HTTP/1.1 200 OK"],
    ["  \t tabs\tand\n\n lines \n", "tabs and lines"],
    ["超时 😀", "?? ?"],
    ["überlastet", "?berlastet"],
    ["nul\0 del\x7f esc\x1b", "nul? del? esc?"],
    ["lone \ud83d and \udc4d", "lone ? and ?"],
    ["no-break\u00a0space\u2028line", "no-break space line"],
    ["~ !", "~ !"],
  ])("writes %j as %j", (reason, written) => {
    expect(reasonPhrase("k", reason)).toBe(`Masked: k: ${written}`);
  });

  it("cleans the kind as well", () => {
    expect(reasonPhrase("usersim:x\r\nX-Evil: 1 é", "r")).toBe("Masked: usersim:x X-Evil: 1 ?: r");
  });

  it("says so when kind or reason is nothing but white space", () => {
    expect(reasonPhrase(" \n", "\t")).toBe("Masked: unspecified: The server gave no reason.");
  });

  it("is cut at 200 bytes and does not end in a space", () => {
    expect(reasonPhrase("k", "x".repeat(5000))).toBe(`Masked: k: ${"x".repeat(189)}`);
    expect(reasonPhrase("k", `${"x".repeat(188)} y`)).toBe(`Masked: k: ${"x".repeat(188)}`);
    expect(reasonPhrase("k".repeat(300), "r")).toBe(`Masked: ${"k".repeat(192)}`);
  });

  it("finds the words after any amount of white space", () => {
    expect(reasonPhrase("k", `${" \n".repeat(1e6)}late`)).toBe("Masked: k: late");
  });

  it("is printable ASCII of at most 200 bytes for any kind and reason", () => {
    const anything = fc.string({ unit: "binary", maxLength: 400 });
    fc.assert(
      fc.property(anything, anything, (kind, reason) => {
        expect(reasonPhrase(kind, reason)).toMatch(
          /^Masked: (?!.* {2})[\x20-\x7e]{0,191}[\x21-\x7e]$/,
        );
      }),
    );
  });
});
