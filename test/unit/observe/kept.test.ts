import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MaskedRecord } from "../../../src/observe/passage.js";
import { Recent } from "../../../src/observe/recent.js";
import { kept } from "../../../src/observe/kept.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** How much more is in memory for what `make` returns, in bytes. */
function weightOf(make: () => unknown): number {
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  const made = make();
  const after = heap();
  return made === undefined ? NaN : after - before;
}

const recordWith = (reason: string): MaskedRecord => ({
  time: "2026-11-30T00:00:00.000Z",
  route: "r",
  mode: "strict",
  decision: "translate",
  because: undefined,
  translation: "error",
  status: 503,
  signal: "mask_sample",
  kind: "k",
  reason,
  task: undefined,
  rollout: undefined,
  session: undefined,
  path: "/verify",
  answerBytes: 1,
  upstreamMs: 1,
  totalMs: 1,
  traceparent: undefined,
  requestId: undefined,
});

const texts = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => String(n).padEnd(2_000_000, "x"));

describe("a text that is kept", () => {
  it("is the beginning of the other", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 40 }), (text, most) => {
        expect(kept(text, most)).toBe(text.slice(0, most));
      }),
    );
  });

  it("does not keep the other in memory", () => {
    expect(weightOf(() => texts(50).map((text) => kept(text, 100)))).toBeLessThan(20_000_000);
  });

  it("nor does a masked answer that is shown later", () => {
    const weight = weightOf(() => {
      const recent = new Recent();
      for (const text of texts(50)) recent.add(recordWith(text.slice(0, 100)));
      return recent;
    });
    expect(weight).toBeLessThan(20_000_000);
  });
});
