import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultRoute } from "../../../src/config/defaults.js";
import type { Verdict } from "../../../src/mask/verdict.js";
import { BUCKETS, bucketOf, isBelow } from "../../../src/route/bucket.js";
import { decide, needsKey } from "../../../src/route/decide.js";
import { rowKey, sessionOf, taskOf } from "../../../src/route/key.js";
import type { Route } from "../../../src/route/route.js";

const percentages = fc.integer({ min: 0, max: BUCKETS }).map((steps) => steps / 100);

describe("bucketOf", () => {
  it("gives the same bucket on every machine and for ever", () => {
    expect([
      bucketOf("run-42", "7"),
      bucketOf("run-42", "8"),
      bucketOf("run-43", "7"),
      bucketOf("", ""),
    ]).toEqual(PINNED);
  });

  it("keeps salt and key apart", () => {
    expect(bucketOf("a", "bc")).not.toBe(bucketOf("ab", "c"));
  });

  it("spreads keys evenly", () => {
    const counts = Array.from({ length: 20 }, () => 0);
    const keys = 40_000;
    for (let key = 0; key < keys; key++)
      counts[Math.floor((bucketOf("uniform", String(key)) * 20) / BUCKETS)]! += 1;
    const expected = keys / 20;
    const chiSquared = counts.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    // 43.8 is the 99.9 % point of chi-squared with 19 degrees of freedom; the keys are fixed, so this cannot flicker.
    expect(chiSquared).toBeLessThan(43.8);
  });
});

describe("isBelow", () => {
  it("is nobody at 0 and everybody at 100", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: BUCKETS - 1 }), (bucket) => {
        expect(isBelow(bucket, 0)).toBe(false);
        expect(isBelow(bucket, 100)).toBe(true);
      }),
    );
  });

  it("only ever adds keys as the percentage grows", () => {
    fc.assert(
      fc.property(fc.string(), percentages, percentages, (key, a, b) => {
        const bucket = bucketOf("salt", key);
        if (isBelow(bucket, Math.min(a, b))) expect(isBelow(bucket, Math.max(a, b))).toBe(true);
      }),
    );
  });

  it("takes exactly that share of the buckets", () => {
    fc.assert(
      fc.property(percentages, (percentage) => {
        let below = 0;
        for (let bucket = 0; bucket < BUCKETS; bucket++) if (isBelow(bucket, percentage)) below++;
        expect(below).toBe(Math.round(percentage * 100));
      }),
      { numRuns: 30 },
    );
  });
});

const masked = (kind = "judge_failed"): Verdict => ({
  verdict: "masked",
  signal: "s",
  signals: ["s"],
  kind,
  reason: "r",
});
const strict = (over: Partial<Route> = {}): Route => ({ ...defaultRoute("strict"), ...over });
const ramp = (percentage: number): Pick<Route, "ramp"> => ({
  ramp: { percentage, by: "task", salt: "run-42" },
});

describe("decide", () => {
  it.each<[string, Route, Verdict, string | undefined, string]>([
    ["a scored answer", strict(), { verdict: "scored" }, undefined, "not masked"],
    [
      "an unknown answer",
      strict(),
      { verdict: "unknown", why: "not-an-object" },
      undefined,
      "not masked",
    ],
    [
      "a route that observes",
      { ...strict(), mode: "observe" },
      masked(),
      "k",
      "route is not strict",
    ],
    [
      "a kind that is excluded",
      strict({ except: [/^agent_.*$/] }),
      masked("agent_timeout"),
      "k",
      "kind is excluded",
    ],
    [
      "a kind that is not among the only ones",
      strict({ only: [/^provider_.*$/] }),
      masked(),
      "k",
      "kind is excluded",
    ],
    ["a ramp at 0", strict(ramp(0)), masked(), "k", "held back by ramp"],
    ["a ramp without a key", strict(ramp(99.99)), masked(), undefined, "no key for the ramp"],
  ])("lets %s pass", (_what, route, verdict, key, because) => {
    expect(decide(route, verdict, key)).toEqual({ decision: "pass", because });
  });

  it("translates all masked answers of a strict route at 100, with a key or without", () => {
    expect(decide(strict(), masked(), undefined)).toEqual({ decision: "translate" });
    expect(decide(strict({ only: [/^judge_.*$/], except: [/^x$/] }), masked(), "k")).toEqual({
      decision: "translate",
    });
  });

  it("translates just the keys below the percentage", () => {
    fc.assert(
      fc.property(fc.string(), percentages, (key, percentage) => {
        const { decision } = decide(strict(ramp(percentage)), masked(), key);
        expect(decision === "translate").toBe(isBelow(bucketOf("run-42", key), percentage));
      }),
    );
  });

  it("asks for a key only where the ramp takes some and not all", () => {
    expect([0, 0.01, 99.99, 100].map((p) => needsKey(strict(ramp(p))))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

// CASES A10
describe("taskOf", () => {
  it.each([
    ["7-0", "7"],
    ["7-7", "7"],
    ["7-3-a1", "7"],
    ["train-12-3", "train-12"],
    ["A.b_c-1", "A.b_c"],
    ["0-0-a10", "0"],
    ["abc", undefined],
    ["abc-x", undefined],
    ["", undefined],
  ])("finds the task of %s", (id, task) => {
    expect(taskOf(id)).toBe(task);
  });
});

describe("rowKey", () => {
  it("is the same for the same row only", () => {
    expect(rowKey(Buffer.from('{"a":1}'))).toBe(rowKey(Buffer.from('{"a":1}')));
    expect(rowKey(Buffer.from('{"a":1}'))).not.toBe(rowKey(Buffer.from('{"a":2}')));
  });
});

describe("sessionOf", () => {
  it("takes the payload of the Gym cookie, which neither time nor signature changes", () => {
    const first = [
      "set-cookie",
      "other=1; path=/",
      "Set-Cookie",
      "LLM___judge=eyJz.awzFwA.ytnY; path=/; httponly",
    ];
    const later = ["Set-Cookie", "LLM___judge=eyJz.bbbbbb.zzzz; path=/"];
    expect(sessionOf(first)).toBe("eyJz");
    expect(sessionOf(later)).toBe("eyJz");
  });

  it("is found in a cookie of any length and form without trying its parts against each other", () => {
    const spaces = "\u00a0".repeat(30_000);
    const name = `${spaces}${"_".repeat(30_000)}`;
    expect(sessionOf(["set-cookie", name])).toBeUndefined();
    expect(sessionOf(["set-cookie", `${name}=`, "set-cookie", `${name}="a.b"`])).toBe("a");
  });

  it("finds none where there is no Gym cookie", () => {
    expect(sessionOf(["set-cookie", "a=b___c; path=/", "x", "y"])).toBeUndefined();
  });
});

/** Pinned on purpose: another value would move the tasks of running ramps to the other side. */
const PINNED = [599, 3496, 4142, 7318];
