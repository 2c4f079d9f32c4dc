import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultRoute } from "../../../src/config/defaults.js";
import type { Rollout } from "../../../src/plan/rollout.js";
import { Tally } from "../../../src/plan/tally.js";
import { bucketOf } from "../../../src/route/bucket.js";
import { decide } from "../../../src/route/decide.js";
import type { Route } from "../../../src/route/route.js";

const STEPS = [0, 10, 25, 50, 100];

const masked = (kind = "lost", signal = "mask_sample"): Rollout["verdict"] => ({
  verdict: "masked",
  signal,
  signals: [signal],
  kind,
  reason: "",
});

function rollout(task: string, reward: number | undefined, verdict?: Rollout["verdict"]): Rollout {
  return { verdict: verdict ?? { verdict: "scored" }, reward, key: task, group: task };
}

function tally(rollouts: readonly Rollout[], route: Partial<Route> = {}): Tally {
  const counted = new Tally({ ...defaultRoute("passthrough"), ...route });
  for (const one of rollouts) counted.add(one);
  return counted;
}

/** A key whose bucket, with the salt `default`, lies in these bounds. */
function keyWithin(from: number, to: number): string {
  for (let index = 0; ; index++) {
    const bucket = bucketOf("default", `task-${index}`);
    if (bucket >= from && bucket < to) return `task-${index}`;
  }
}

describe("Tally", () => {
  it("weighs masked rollouts with their recorded reward below the ramp and drops them above", () => {
    const early = keyWithin(0, 1000);
    const late = keyWithin(5000, 10_000);
    const plan = tally([
      rollout(early, 1),
      rollout(early, 0, masked()),
      rollout(late, 1),
      rollout(late, 0.5),
      rollout(late, 0, masked()),
    ]).plan([0, 10, 100]);
    expect(plan.steps).toEqual([
      {
        percentage: 0,
        translated: 0,
        groupsTouched: 0,
        groupsUnderTwo: 0,
        meanReward: 0.5,
        meanOfGroups: 0.5,
      },
      {
        percentage: 10,
        translated: 1,
        groupsTouched: 1,
        groupsUnderTwo: 1,
        meanReward: 0.625,
        meanOfGroups: 0.75,
      },
      {
        percentage: 100,
        translated: 2,
        groupsTouched: 2,
        groupsUnderTwo: 1,
        meanReward: 2.5 / 3,
        meanOfGroups: 0.875,
      },
    ]);
  });

  it("counts by signal and kind, the most frequent first, and the groups of each once", () => {
    const plan = tally([
      rollout("a", 0, masked("judge_failed", "_ng_failure_class")),
      rollout("a", 0, masked("lost")),
      rollout("a", 0, masked("lost")),
      rollout("b", 0, masked("lost")),
      rollout("b", 1),
    ]).plan(STEPS);
    expect(plan).toMatchObject({ rollouts: 5, groups: 2, masked: 4, groupsWithMask: 2 });
    expect(plan.maskedBy).toEqual([
      { signal: "mask_sample", kind: "lost", translated: true, rollouts: 3, groups: 2 },
      {
        signal: "_ng_failure_class",
        kind: "judge_failed",
        translated: true,
        rollouts: 1,
        groups: 1,
      },
    ]);
  });

  it("leaves alone what only and except leave alone", () => {
    const rollouts = [
      rollout("a", 0, masked("agent_timeout")),
      rollout("a", 0, masked("provider_lost")),
      rollout("a", 1),
    ];
    const except = tally(rollouts, { except: [/^agent_timeout$/] }).plan([100]);
    const only = tally(rollouts, { only: [/^provider_.*$/] }).plan([100]);
    for (const plan of [except, only]) {
      expect(plan).toMatchObject({ masked: 2, leftAlone: 1 });
      expect(plan.steps[0]).toMatchObject({ translated: 1, meanReward: 0.5 });
    }
  });

  it("leaves a reward that is no number out of the means and in the groups", () => {
    const plan = tally([rollout("a", undefined), rollout("a", 1)]).plan([0]);
    expect(plan).toMatchObject({ withoutReward: 1 });
    expect(plan.steps[0]).toMatchObject({ meanReward: 1, groupsUnderTwo: 0 });
    expect(tally([rollout("a", undefined)]).plan([0]).steps[0]?.meanReward).toBeUndefined();
  });

  it("translates a rollout without a key at 100 % only and counts it in no group", () => {
    const loose = { verdict: masked(), reward: 0, key: undefined, group: undefined };
    const plan = tally([loose, rollout("a", 1), rollout("a", 1)]).plan([99.99, 100]);
    expect(plan).toMatchObject({ groups: 1, withoutKey: 1, groupsWithMask: 0 });
    expect(plan.steps.map(({ translated, meanReward }) => [translated, meanReward])).toEqual([
      [0, 2 / 3],
      [1, 1],
    ]);
  });

  it("decides on each rollout as the proxy does at each percentage", () => {
    const task = fc.integer({ min: 0, max: 30 }).map((index) => `t${index}`);
    const verdict = fc.constantFrom(undefined, masked("lost"), masked("agent_timeout"));
    const some = fc.array(fc.tuple(task, verdict).map(([name, v]) => rollout(name, 0, v)));
    fc.assert(
      fc.property(
        some,
        fc.string(),
        fc.double({ min: 0, max: 100, noNaN: true }),
        (all, salt, p) => {
          const route: Route = {
            ...defaultRoute("strict"),
            except: [/^agent_timeout$/],
            ramp: { percentage: p, by: "task", salt },
          };
          const translated = all.filter(
            (one) => decide(route, one.verdict, one.key).decision === "translate",
          );
          expect(tally(all, route).plan([p]).steps[0]).toMatchObject({
            translated: translated.length,
            groupsTouched: new Set(translated.map(({ key }) => key)).size,
          });
        },
      ),
    );
  });

  it("stops telling kinds apart when a server invents one for each answer", () => {
    const rollouts = Array.from({ length: 1500 }, (_value, index) =>
      rollout("a", 0, masked(`kind ${index}`)),
    );
    const { maskedBy } = tally(rollouts).plan([100]);
    expect(maskedBy.length).toBe(1001);
    expect(maskedBy[0]).toMatchObject({ kind: "(other kinds)", rollouts: 500 });
  });
});
