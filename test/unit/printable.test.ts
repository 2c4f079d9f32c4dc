import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable, printableLines } from "../../src/printable.js";

const anything = fc.string({ unit: "binary", maxLength: 40 });
const HARMFUL = [
  "\u001b[31m",
  "\u009b2J",
  "\u009d0;x\u009c",
  "\u202e",
  "\u2066",
  "\u2028",
  "\u2029",
  "\u0085",
  "\r",
  "\u007f",
];

describe("what is printed on a terminal", () => {
  it.each(HARMFUL)("holds nothing that a terminal obeys: %j", (text) => {
    const first = text.slice(0, 1);
    expect(printable(`a${text}b`)).not.toContain(first);
    expect(printableLines(`a${text}\nb`)).not.toContain(first);
  });

  it("is letters, marks, numbers, signs and spaces, and line feeds where there may be lines", () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(printable(text)).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]*$/u);
        expect(printableLines(text).split("\n")).toEqual(text.split("\n").map(printable));
      }),
    );
  });

  it("keeps what is harmless", () => {
    expect(printable("a b – é 日本 🎲 שלום")).toBe("a b – é 日本 🎲 שלום");
  });
});
