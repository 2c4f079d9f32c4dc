import { describe, expect, it } from "vitest";
import { type StormReport, StormWatch, stormText } from "../../../src/observe/storm.js";

const ALERT = { maskedShare: 0.5, minAnswers: 10, windowMs: 60_000, webhook: undefined };
const mask = (kind = "judge_failed", reason = "the judge is gone") => ({
  kind,
  reason,
  translated: true,
});

/** Adds answers of one sort at one time; the reports that came of it. */
function add(
  watch: StormWatch,
  now: number,
  n: number,
  masked?: ReturnType<typeof mask>,
): StormReport[] {
  return Array.from({ length: n }, () => watch.add(now, masked)).filter((r) => r !== undefined);
}

describe("a mask storm", () => {
  it("begins once, when the share is reached over enough answers", () => {
    const watch = new StormWatch(ALERT);
    expect(add(watch, 0, 9, mask())).toEqual([]);
    expect(add(watch, 1, 1)).toMatchObject([{ state: "begun", answers: 10, masked: 9, since: 1 }]);
    expect(add(watch, 2, 50, mask())).toEqual([]);
    expect([watch.begun, watch.since]).toEqual([1, 1]);
  });

  it.each([
    [4, 6, 0],
    [5, 5, 1],
  ])("with %d masked and %d scored answers begins %d times", (masked, scored, begun) => {
    const watch = new StormWatch(ALERT);
    add(watch, 0, masked, mask());
    add(watch, 0, scored);
    expect(watch.begun).toBe(begun);
  });

  it("is over once the share lies well below the limit, and can then begin anew", () => {
    const watch = new StormWatch(ALERT);
    add(watch, 0, 5, mask());
    add(watch, 0, 5);
    expect(add(watch, 1, 2)).toEqual([]);
    expect(add(watch, 1, 1)).toMatchObject([{ state: "over", answers: 13, masked: 5, since: 0 }]);
    expect(watch.since).toBeUndefined();
    expect(add(watch, 2, 10, mask())).toMatchObject([{ state: "begun" }]);
  });

  it("is over when nothing was answered for a whole window", () => {
    const watch = new StormWatch(ALERT);
    add(watch, 0, 10, mask());
    expect(watch.check(59_000)).toBeUndefined();
    expect(watch.check(61_000)).toMatchObject({ state: "over", answers: 0 });
    expect(watch.check(62_000)).toBeUndefined();
  });

  it("forgets what lies before its window", () => {
    const watch = new StormWatch(ALERT);
    add(watch, 0, 9, mask());
    expect(add(watch, 70_000, 9, mask())).toEqual([]);
    expect(watch.window(70_000)).toEqual({ answers: 9, masked: 9, share: 1 });
  });

  it.each([
    ["back", [100_000_000]],
    ["forth and back", [100_000_000, 200_000_000]],
  ])("is found by what came of late when the clock is set %s", (_, before) => {
    const watch = new StormWatch(ALERT);
    for (const then of before) add(watch, then, 100);
    const now = 50_000_000;
    add(watch, now, 1);
    expect(add(watch, now + 60_000, 10, mask())).toMatchObject([{ state: "begun", answers: 10 }]);
    expect(watch.check(now + 200_000)).toMatchObject({ state: "over", answers: 0 });
  });

  it("is told of with the leading kinds and reasons", () => {
    const watch = new StormWatch(ALERT);
    add(watch, 0, 6, mask());
    add(watch, 0, 3, mask("cancelled", "shut down"));
    const [report] = add(watch, 0, 1);
    expect(report?.kinds).toEqual([
      ["judge_failed", 6],
      ["cancelled", 3],
    ]);
    expect(stormText("verifiers", report!)).toBe(
      "MASK STORM on route verifiers: 90 % of the last 10 answers (9 in 60 s) are masked: " +
        'judge_failed 6, cancelled 3; most often: "the judge is gone"',
    );
  });
});
