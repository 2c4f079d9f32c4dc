import { describe, expect, it } from "vitest";
import { AnswerScan } from "../../../src/mask/verdict.js";
import { rowKey, startRowKey } from "../../../src/route/key.js";

const TEXT = Buffer.from("0123456789abcdefghij");

function visit(cuts: readonly number[], start: number, end: number): string[] {
  const chunks = [0, ...cuts].map((from, i) => TEXT.subarray(from, cuts[i] ?? TEXT.length));
  const scan = new AnswerScan();
  for (const chunk of chunks) scan.push(chunk);
  const pieces: string[] = [];
  const steps = scan.visit({ start, end }, (piece) => pieces.push(piece.toString()));
  let step = steps.next();
  while (step.done !== true) step = steps.next(chunks[step.value]!);
  return pieces;
}

describe("visit", () => {
  it.each([
    [[], 3, 7, ["3456"]],
    [[5], 3, 7, ["34", "56"]],
    [[5, 5, 6], 3, 7, ["34", "5", "6"]],
    [[3, 7], 3, 7, ["3456"]],
    [[3, 7], 0, 20, ["012", "3456", "789abcdefghij"]],
    [[5], 7, 7, []],
  ])("of an answer cut at %j hands over %i to %i in order", (cuts, start, end, pieces) => {
    expect(visit(cuts, start, end)).toEqual(pieces);
  });
});

it("a row that comes in pieces has the key of the whole", () => {
  const { add, key } = startRowKey();
  for (const piece of visit([4, 11, 12], 2, 17)) add(Buffer.from(piece));
  expect(key()).toBe(rowKey(TEXT.subarray(2, 17)));
});
