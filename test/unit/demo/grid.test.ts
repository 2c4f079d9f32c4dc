import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gridDay, IDLE, readSchedule, score } from "../../../src/demo/grid.js";

const DAYS = [1, 2, 3, 4, 5, 6, 7, 8];
const nightToEvening = IDLE.map((_, hour) => (hour < 2 ? 2 : hour === 18 || hour === 19 ? -2 : 0));

describe("score", () => {
  it.each(DAYS)("gives an idle schedule 0.2 on day %i", (day) => {
    expect(score(gridDay(day), IDLE)).toBe(0.2);
  });

  it.each(DAYS)("rewards night power used in the evening of day %i", (day) => {
    expect(score(gridDay(day), nightToEvening)).toBeGreaterThan(0.5);
  });

  it("reaches 1 with the best schedule and never passes it", () => {
    const day = gridDay(3);
    let schedule = IDLE;
    for (let better = true; better;) {
      better = false;
      for (const next of neighbours(schedule)) {
        if (score(day, next) > score(day, schedule) + 1e-9) {
          schedule = next;
          better = true;
        }
      }
    }
    expect(score(day, schedule)).toBeCloseTo(1, 9);
  });

  it("takes off for demand that a charging battery left unserved", () => {
    const fullLine = { price: IDLE.map(() => 10), demand: IDLE.map(() => 8) };
    const charge = IDLE.map((_, hour) => (hour === 5 ? 2 : 0));
    expect(score(fullLine, IDLE)).toBe(0.2);
    expect(score(fullLine, charge)).toBeCloseTo(0.2 * (190 / 192), 9);
  });

  it("stays between 0 and 1 for any orders", () => {
    const orders = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 24, maxLength: 24 });
    fc.assert(
      fc.property(fc.constantFrom(...DAYS), orders, (day, schedule) => {
        const value = score(gridDay(day), schedule);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });
});

describe("readSchedule", () => {
  it("reads 24 whole numbers", () => {
    expect(readSchedule(JSON.stringify(nightToEvening))).toEqual(nightToEvening);
  });

  it.each(["", "idle", "{}", "[]", "[0,1]", JSON.stringify(IDLE.map(() => 0.5)), "null"])(
    "finds no schedule in %j",
    (text) => {
      expect(readSchedule(text)).toBeUndefined();
    },
  );
});

function neighbours(schedule: readonly number[]): number[][] {
  const found: number[][] = [];
  for (let from = 0; from < schedule.length; from++) {
    for (let to = from + 1; to < schedule.length; to++) {
      for (const [charge, discharge] of [
        [1, -1],
        [-1, 1],
      ] as const) {
        const next = [...schedule];
        next[from] = (next[from] ?? 0) + charge;
        next[to] = (next[to] ?? 0) + discharge;
        if (next.every((order) => Math.abs(order) <= 2)) found.push(next);
      }
    }
  }
  return found;
}
