import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detectMask, type Verdict } from "../../../src/mask/verdict.js";
import { cut, judge } from "./drive.js";

const KIB = 1024;

/** A JSON string of some kibibytes in which any character, written plainly or as an escape, may stand where it is cut. */
const longText = fc
  .tuple(
    fc.nat({ max: 12 }),
    fc.array(
      fc.constantFrom("a", "é", "€", "😀", "\\n", "\\\\", '\\"', "\\u00e9", "\\ud83d\\ude00"),
      {
        minLength: 1,
        maxLength: 9,
      },
    ),
  )
  .map(([shift, parts]) => `"${"x".repeat(shift)}${parts.join("").repeat(70 * KIB)}"`);

function reasonOf(answer: string): { readonly kind: string; readonly reason: string } {
  const result = judge(cut(Buffer.from(answer), 64 * KIB));
  if (result.verdict !== "masked") throw new Error(result.verdict);
  return result;
}

describe("kind and reason of a masked answer", () => {
  it("are the beginning of what the server wrote, as much as fits into 1 KiB and 64 KiB of JSON", () => {
    fc.assert(
      fc.property(longText, (json) => {
        const text = JSON.parse(json) as string;
        const { kind, reason } = reasonOf(
          `{"mask_sample":true,"failure_kind":${json},"failure_reason":${json}}`,
        );
        for (const [said, most] of [
          [kind, KIB],
          [reason, 64 * KIB],
        ] as const) {
          expect(text.startsWith(said)).toBe(true);
          // What an escape takes at the most, for each of its characters.
          expect(said.length * 6).toBeGreaterThan(most - 16);
          expect(Buffer.byteLength(said)).toBeLessThan(most);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("are whole up to there", () => {
    const reason = "r".repeat(64 * KIB - 2);
    const kind = "k".repeat(KIB - 2);
    const answer = JSON.stringify({ mask_sample: 1, failure_kind: kind, failure_reason: reason });
    expect(detectMask(Buffer.from(answer))).toMatchObject({ kind, reason });
  });
});

describe("a text that a route's own signal looks at", () => {
  const verdict = (answer: object): Verdict =>
    judge([Buffer.from(JSON.stringify(answer))], [{ member: "note", matches: /lost$/ }]);

  it("is searched up to 64 KiB, and nobody could check a longer one", () => {
    expect(verdict({ note: `${"x".repeat(65_000)} lost` }).verdict).toBe("masked");
    for (const end of ["", " lost"]) {
      expect(verdict({ note: `${"x".repeat(66_000)}${end}` })).toEqual({
        verdict: "unknown",
        why: "too-long",
      });
    }
  });

  it("may be as long as it likes where something else masks the answer, or where it is no text", () => {
    const note = "x".repeat(66_000);
    expect(verdict({ note, mask_sample: true }).verdict).toBe("masked");
    expect(verdict({ note: [note] }).verdict).toBe("scored");
  });
});

describe("a number that a signal looks at", () => {
  const verdict = (zeros: number, rest = ""): Verdict =>
    judge([Buffer.from(`{"reward":0,"mask_sample":0.${"0".repeat(zeros)}1e${zeros}${rest}}`)]);

  it("is read up to 64 KiB, and nobody could check a longer one, which would have to be copied", () => {
    expect(verdict(65_000).verdict).toBe("masked");
    expect(verdict(66_000)).toEqual({ verdict: "unknown", why: "too-long" });
    expect(verdict(66_000, ',"_ng_no_persist":1').verdict).toBe("masked");
  });
});
