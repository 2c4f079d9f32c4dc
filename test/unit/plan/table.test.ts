import { describe, expect, it } from "vitest";
import type { Plan, Source } from "../../../src/plan/plan.js";
import { planLines } from "../../../src/plan/table.js";

const plan: Plan = {
  rollouts: 12_345_678,
  groups: 1_543_210,
  masked: 1_000_000,
  groupsWithMask: 400_000,
  leftAlone: 1,
  withoutReward: 2,
  withoutKey: 3,
  maskedRewardMean: 0,
  maskedBy: [
    {
      signal: "instance_config.mask_sample",
      kind: `\u001B[2J\u2028${"long ".repeat(30)}`,
      translated: true,
      rollouts: 999_999,
      groups: 399_999,
    },
    { signal: "mask_sample", kind: "agent_timeout", translated: false, rollouts: 1, groups: 1 },
  ],
  steps: [0, 10, 12.34, 100].map((percentage) => ({
    percentage,
    translated: 999_999,
    groupsTouched: 399_999,
    groupsUnderTwo: 399_999,
    meanReward: -1234.5678,
    meanOfGroups: undefined,
  })),
};

const source: Source = {
  files: ["a.jsonl", "b.jsonl"],
  bytes: 1,
  withoutAnswer: 4,
  translated: 3,
  damaged: 12,
  damage: [
    { file: "a.jsonl", line: 7, why: "not JSON, or cut short" },
    { file: "b.jsonl", line: undefined, why: "the rest cannot be unpacked: unexpected end" },
  ],
  route: "verifiers",
  salt: "run-42",
  percentage: 12.34,
  by: "session",
};

describe("planLines", () => {
  it("fits in 80 columns and lets no text of a server move the cursor", () => {
    const lines = planLines(plan, source);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
    expect(lines.join("")).not.toMatch(/\p{Cc}/u);
  });

  it("names where the damage is and how much there is", () => {
    const text = planLines(plan, source).join("\n");
    expect(text).toContain("damaged, the first 2 of 12");
    expect(text).toContain("a.jsonl:7  not JSON, or cut short");
    expect(text).toContain("b.jsonl  the rest cannot be unpacked");
  });

  it("holds nothing of an answer that a terminal obeys", () => {
    expect(planLines(plan, source).join("")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  });

  it("marks the percentage that the configuration is at and the kinds it leaves alone", () => {
    const lines = planLines(plan, source);
    expect(lines.filter((line) => line.includes("12.34 % <"))).toHaveLength(1);
    expect(lines.filter((line) => /agent_timeout +- /.test(line))).toHaveLength(1);
  });

  it("says what a strict route has translated already", () => {
    const text = planLines(plan, source).join("\n");
    expect(text).toMatch(/of them Masked +3 +a strict route has translated them/);
    expect(text.replace(/\s+/g, " ")).toContain(
      '3 errors "503 Masked" are masks that were translated',
    );
  });

  it("says that a ramp by session is counted by task", () => {
    expect(planLines(plan, source).join("\n")).toContain("counted by task");
    expect(planLines(plan, { ...source, by: "task" }).join("\n")).not.toContain("by task");
  });

  it("leaves out the rows that have nothing to tell", () => {
    const clean = {
      ...plan,
      leftAlone: 0,
      withoutReward: 0,
      withoutKey: 0,
      masked: 0,
      maskedBy: [],
    };
    const text = planLines(clean, {
      ...source,
      withoutAnswer: 0,
      translated: 0,
      damaged: 0,
      damage: [],
    }).join("\n");
    expect(text).not.toMatch(/left alone|Masked|no reward|no task|no answer|damaged|by signal/);
  });

  it("sums up the kinds that the table has no room for", () => {
    const maskedBy = Array.from({ length: 25 }, (_value, index) => ({
      signal: "mask_sample",
      kind: `kind ${index}`,
      translated: true,
      rollouts: 3,
      groups: 1,
    }));
    expect(planLines({ ...plan, maskedBy }, source)).toContain("  and 15 rollouts of 5 more kinds");
  });
});
