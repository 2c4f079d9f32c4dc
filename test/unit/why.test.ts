import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

type Group = Readonly<Record<"good" | "bad" | "masked", number>>;
type Estimate = (rewards: readonly number[]) => number[];

interface Why {
  readonly byMean: Estimate;
  readonly byDeviation: Estimate;
  readonly leaveOneOut: Estimate;
  advantages(group: Group, estimate: Estimate, reading: string): Partial<Group>;
  storm(share: number): Readonly<Record<string, number>>;
  page(text: string): string;
  picture(): string;
}

const docs = new URL("../../docs/", import.meta.url);
const why = (await import(new URL("why/why.mjs", docs).href)) as Why;
const read = (path: string) => readFileSync(new URL(path, docs), "utf8");

describe("WHY", () => {
  it("has the tables and the picture that its script makes", () => {
    expect(read("WHY.md")).toBe(why.page(read("WHY.md")));
    expect(read("WHY.md").match(/^\| /gm)?.length).toBeGreaterThan(20);
    expect(read("why/group.svg")).toBe(why.picture());
  });

  it("gives a masked rollout that is read as 0 the largest advantage of its group", () => {
    const group = { good: 7, bad: 0, masked: 1 };
    expect(why.advantages(group, why.byMean, "read as 0")).toEqual({ good: 0.125, masked: -0.875 });
    expect(why.advantages(group, why.byDeviation, "read as 0").masked).toBeCloseTo(-2.474, 3);
    expect(why.advantages(group, why.byDeviation, "dropped")).toEqual({ good: 0 });
  });

  it("counts a mask that still votes against the good and for the bad", () => {
    const group = { good: 4, bad: 3, masked: 1 };
    const voting = why.advantages(group, why.leaveOneOut, "still voting");
    const dropped = why.advantages(group, why.leaveOneOut, "dropped");
    expect(voting.good).toBeCloseTo(1.069, 3);
    expect(dropped.good).toBeCloseTo(0.913, 3);
    expect(voting.bad).toBeCloseTo(-1.069, 3);
    expect(dropped.bad).toBeCloseTo(-1.291, 3);
  });

  it("leaves half of the groups of a storm without a survivor", () => {
    const { none, one, more, moved, real } = why.storm(0.916);
    expect([none, one, more].map((share) => share?.toFixed(2))).toEqual(["0.50", "0.36", "0.14"]);
    expect(moved).toBeCloseTo(0.2905, 3);
    expect(real).toBeCloseTo(0.0767, 3);
  });

  it("finds the same shares of a storm by playing every group of eight", () => {
    const share = 0.5;
    const outcomes = [
      { reward: undefined, chance: share },
      { reward: 1, chance: (1 - share) / 2 },
      { reward: 0, chance: (1 - share) / 2 },
    ];
    let [moved, real] = [0, 0];
    for (let code = 0; code < 3 ** 8; code++) {
      const group = Array.from(
        { length: 8 },
        (_v, at) => outcomes[Math.floor(code / 3 ** at) % 3]!,
      );
      const chance = group.reduce((product, outcome) => product * outcome.chance, 1);
      const kept = group.flatMap(({ reward }) => (reward === undefined ? [] : [reward]));
      if (new Set(group.map(({ reward }) => reward ?? 0)).size > 1) moved += chance;
      if (new Set(kept).size > 1) real += chance;
    }
    expect(why.storm(share)["moved"]).toBeCloseTo(moved, 10);
    expect(why.storm(share)["real"]).toBeCloseTo(real, 10);
  });
});
