import { describe, expect, it } from "vitest";
import { HoldBudget } from "../../../src/proxy/hold.js";

const MIB = 1024 * 1024;

/** How much a budget gives out, MiB by MiB. */
function roomOf(budget: HoldBudget): number {
  let taken = 0;
  while (budget.take(MIB)) taken += 1;
  return taken;
}

describe("the memory for held answers", () => {
  it.each([
    [1, 1],
    [64, 64],
    [128, 85],
    [256, 128],
    [1024, 896],
  ])(
    "of %i MiB is given out up to %i MiB, and the rest is left for what is on its way",
    (limit, room) => {
      const budget = new HoldBudget(limit * MIB, () => 0);
      expect(roomOf(budget)).toBe(room);
      expect(budget.limit).toBe(limit * MIB);
    },
  );

  it("is not given out again before what was given back is really free", () => {
    let dead = 0;
    const budget: HoldBudget = new HoldBudget(256 * MIB, () => dead + budget.used);
    expect(roomOf(budget)).toBe(128);
    dead = 128 * MIB;
    budget.give(128 * MIB);
    expect(roomOf(budget)).toBeLessThan(100);
    dead = 0;
    roomOf(budget);
    expect(budget.used).toBe(128 * MIB);
  });

  it("is still given out by half where others fill the process with buffers", () => {
    const budget = new HoldBudget(256 * MIB, () => 4096 * MIB);
    expect(roomOf(budget)).toBe(64);
  });
});
