import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leading, Slots } from "../../../src/observe/slots.js";

const mask = { kind: "judge_failed", reason: "gone", translated: true };

describe("slots", () => {
  it("count what lies within their reach, and no more", () => {
    const slots = new Slots(1000, 10);
    slots.add(0, mask);
    slots.add(950);
    expect([slots.answers, slots.masked, slots.share]).toEqual([2, 1, 0.5]);
    slots.advance(999);
    expect(slots.answers).toBe(2);
    slots.advance(1000);
    expect([slots.answers, slots.masked, slots.share]).toEqual([1, 0, 0]);
    slots.advance(5000);
    expect([slots.answers, slots.share, slots.slots.length]).toEqual([0, 0, 0]);
  });

  it("hold the sums of their parts, whatever the clock does", () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: -300, max: 900 }), fc.boolean()));
    fc.assert(
      fc.property(steps, (list) => {
        const slots = new Slots(1000, 7);
        let now = 10_000;
        for (const [step, isMasked] of list) {
          now += step;
          slots.add(now, isMasked ? mask : undefined);
          const sum = (key: "answers" | "masked"): number =>
            slots.slots.reduce((all, slot) => all + slot[key], 0);
          expect(slots.answers).toBe(sum("answers"));
          expect(slots.masked).toBe(sum("masked"));
          expect(slots.slots.length).toBeLessThanOrEqual(8);
        }
      }),
    );
  });

  it("lead with the most frequent names", () => {
    const slots = new Slots(1000, 10);
    for (const [at, kind] of [
      [0, "a"],
      [100, "b"],
      [200, "b"],
      [300, "c"],
    ] as const) {
      slots.add(at, { kind, translated: false });
    }
    expect(leading(slots.slots, "kinds", 2)).toEqual([
      ["b", 2],
      ["a", 1],
    ]);
    expect(leading(slots.slots, "reasons", 2)).toEqual([]);
  });

  it("keep a bounded number of names, and count the rest as other", () => {
    const slots = new Slots(1000, 10);
    for (let n = 0; n < 10_000; n++) {
      slots.add(5, { kind: "k", reason: `reason ${n}`, translated: false });
    }
    const [slot] = slots.slots;
    expect(slot?.reasons.size).toBeLessThan(40);
    expect([...(slot?.reasons.values() ?? [])].reduce((a, b) => a + b, 0)).toBe(10_000);
  });
});
