import type { Verdict } from "../mask/verdict.js";
import { bucketOf, isBelow } from "../route/bucket.js";
import { decide } from "../route/decide.js";
import type { Route } from "../route/route.js";
import { Mean } from "./mean.js";
import type { Rollout } from "./rollout.js";
import type { MaskedBy, Plan, Step } from "./plan.js";

type Masked = Extract<Verdict, { verdict: "masked" }>;

interface Group {
  /** Undefined without a key: such a rollout is translated at 100 % only. */
  readonly bucket: number | undefined;
  rollouts: number;
  /** How many of them the route translates once the ramp has reached the bucket. */
  translated: number;
  readonly all: Mean;
  readonly kept: Mean;
  /** The rows of the table by signal and kind that this group was counted in. */
  causes: Set<Cause> | undefined;
}

interface Cause {
  readonly signal: string;
  readonly kind: string;
  readonly translated: boolean;
  rollouts: number;
  groups: number;
}

/** As many kinds are told apart; a server that writes a new kind each time must not fill the memory. */
const MAX_CAUSES = 1000;

/** Counts rollouts as they are read; keeps a few numbers for each group and nothing for each rollout. */
export class Tally {
  readonly #route: Route;
  readonly #groups = new Map<string, Group>();
  readonly #loose: Group = newGroup(undefined);
  readonly #causes = new Map<string, Cause>();
  readonly #maskedReward = new Mean();
  #rollouts = 0;
  #masked = 0;
  #withoutReward = 0;
  #groupsWithMask = 0;

  /** @param route counted as strict whatever its mode: the question is what it would do */
  constructor(route: Route) {
    this.#route = { ...route, mode: "strict", ramp: { ...route.ramp, percentage: 100 } };
  }

  /** How many rollouts have been counted. */
  get rollouts(): number {
    return this.#rollouts;
  }

  /** How many of them were masked. */
  get masked(): number {
    return this.#masked;
  }

  /** Counts a rollout. */
  add({ verdict, reward, key, group: name }: Rollout): void {
    this.#rollouts++;
    const group = name === undefined || key === undefined ? this.#loose : this.#group(name, key);
    group.rollouts++;
    group.all.add(reward);
    if (reward === undefined) this.#withoutReward++;
    if (verdict.verdict !== "masked") {
      group.kept.add(reward);
      return;
    }
    this.#masked++;
    this.#maskedReward.add(reward);
    const translated = decide(this.#route, verdict, key).decision === "translate";
    if (translated) group.translated++;
    else group.kept.add(reward);
    this.#blame(group, verdict, translated);
  }

  /** Everything counted so far, at each of these percentages of the ramp. */
  plan(percentages: readonly number[]): Plan {
    const causes = [...this.#causes.values()].toSorted((a, b) => b.rollouts - a.rollouts);
    return {
      rollouts: this.#rollouts,
      groups: this.#groups.size,
      masked: this.#masked,
      groupsWithMask: this.#groupsWithMask,
      leftAlone: causes.reduce((sum, cause) => sum + (cause.translated ? 0 : cause.rollouts), 0),
      withoutReward: this.#withoutReward,
      withoutKey: this.#loose.rollouts,
      maskedRewardMean: this.#maskedReward.value(),
      maskedBy: causes.map((cause): MaskedBy => ({ ...cause })),
      steps: percentages.map((percentage) => this.#step(percentage)),
    };
  }

  #group(name: string, key: string): Group {
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const group = newGroup(bucketOf(this.#route.ramp.salt, key));
    this.#groups.set(name, group);
    return group;
  }

  #blame(group: Group, { signal, kind }: Masked, translated: boolean): void {
    const cause = this.#cause(signal, kind, translated);
    cause.rollouts++;
    if (group === this.#loose) return;
    if (group.causes === undefined) {
      group.causes = new Set();
      this.#groupsWithMask++;
    }
    if (!group.causes.has(cause)) cause.groups++;
    group.causes.add(cause);
  }

  #cause(signal: string, kind: string, translated: boolean): Cause {
    const name = JSON.stringify([signal, kind, translated]);
    const known = this.#causes.get(name);
    if (known !== undefined) return known;
    if (this.#causes.size >= MAX_CAUSES && kind !== OTHER_KINDS) {
      return this.#cause(signal, OTHER_KINDS, translated);
    }
    const cause: Cause = { signal, kind, translated, rollouts: 0, groups: 0 };
    this.#causes.set(name, cause);
    return cause;
  }

  #step(percentage: number): Step {
    const rewards = new Mean();
    const groupMeans = new Mean();
    let translated = 0;
    let groupsTouched = 0;
    let groupsUnderTwo = 0;
    for (const group of this.#groups.values()) {
      const reached = isReached(group, percentage);
      const lost = reached ? group.translated : 0;
      const mean = reached ? group.kept : group.all;
      translated += lost;
      if (lost > 0) groupsTouched++;
      if (group.rollouts - lost < 2) groupsUnderTwo++;
      rewards.merge(mean);
      groupMeans.add(mean.value());
    }
    const reached = isReached(this.#loose, percentage);
    if (reached) translated += this.#loose.translated;
    rewards.merge(reached ? this.#loose.kept : this.#loose.all);
    return {
      percentage,
      translated,
      groupsTouched,
      groupsUnderTwo,
      meanReward: rewards.value(),
      meanOfGroups: groupMeans.value(),
    };
  }
}

const OTHER_KINDS = "(other kinds)";

function newGroup(bucket: number | undefined): Group {
  return {
    bucket,
    rollouts: 0,
    translated: 0,
    all: new Mean(),
    kept: new Mean(),
    causes: undefined,
  };
}

function isReached({ bucket }: Group, percentage: number): boolean {
  return bucket === undefined ? percentage === 100 : isBelow(bucket, percentage);
}
