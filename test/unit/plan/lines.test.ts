import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter } from "../../../src/plan/lines.js";

function split(chunks: readonly Buffer[], maxBytes = 1000): (string | undefined)[] {
  const splitter = new LineSplitter(maxBytes);
  const lines = chunks.flatMap((chunk) => [...splitter.push(chunk)]);
  lines.push(...splitter.end());
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_line, index) => index + 1));
  return lines.map(({ bytes }) => bytes?.toString());
}

describe("LineSplitter", () => {
  it("gives every line once with its number, wherever the chunks end", () => {
    const pieces = fc.array(fc.constantFrom("a", "ü", "\n", "\r", ""), { maxLength: 40 });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 5 }), (parts, size) => {
        const text = Buffer.from(parts.join(""));
        const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_value, index) =>
          text.subarray(index * size, (index + 1) * size),
        );
        const expected = parts.join("").split("\n");
        if (expected.at(-1) === "") expected.pop();
        expect(split(chunks)).toEqual(expected);
      }),
    );
  });

  it("drops the bytes of a line that is too long and reads the next one", () => {
    const chunks = ["abc", "def", "gh\nok\nabcdefghi\n", "abcdefgh"].map((text) =>
      Buffer.from(text),
    );
    expect(split(chunks, 8)).toEqual(["abcdefgh", "ok", undefined, "abcdefgh"]);
    expect(split(chunks, 7)).toEqual([undefined, "ok", undefined, undefined]);
  });
});
