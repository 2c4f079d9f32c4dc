import type { Route } from "../route/route.js";

/** What strictness would do to the rollouts of some files. Every count is of rollouts unless its name says groups. */
export interface Plan {
  readonly rollouts: number;
  readonly groups: number;
  readonly masked: number;
  readonly groupsWithMask: number;
  /** Masked ones of a kind that `only` or `except` leave as they are. */
  readonly leftAlone: number;
  /** Their reward is missing, null, NaN or infinite; they are in no mean. */
  readonly withoutReward: number;
  /** Nothing names their task: in no group, and translated at 100 % only. */
  readonly withoutKey: number;
  /** The mean of what was recorded as reward of the masked ones. */
  readonly maskedRewardMean: number | undefined;
  /** The most frequent first. */
  readonly maskedBy: readonly MaskedBy[];
  readonly steps: readonly Step[];
}

/** The masked rollouts of one signal (the first that holds) and one kind. */
export interface MaskedBy {
  readonly signal: string;
  readonly kind: string;
  /** Whether the route turns this kind into an error. */
  readonly translated: boolean;
  readonly rollouts: number;
  readonly groups: number;
}

/** What is left at one percentage of the ramp. */
export interface Step {
  readonly percentage: number;
  /** How many rollouts become an error. */
  readonly translated: number;
  readonly groupsTouched: number;
  /** Groups with fewer than two rollouts left: nothing there to compare with. */
  readonly groupsUnderTwo: number;
  /** Over the rollouts that are left, each with the reward that was recorded: at 0 the masked ones count with theirs. */
  readonly meanReward: number | undefined;
  /** Over the means of the groups that have a rollout left. */
  readonly meanOfGroups: number | undefined;
}

/** A place in a file that could not be read. */
export interface Damage {
  readonly file: string;
  /** The first line is 1. Undefined for damage to the packed file itself. */
  readonly line: number | undefined;
  readonly why: string;
}

/** What the plan was made from. */
export interface Source {
  readonly files: readonly string[];
  /** As read from the disk, so packed where the file is. */
  readonly bytes: number;
  /** Lines or traces that hold no answer: the rollout failed before it was verified, or is an error already. */
  readonly withoutAnswer: number;
  /** How many of those are errors that a strict route made of a mask. */
  readonly translated: number;
  readonly damaged: number;
  /** The first ones. */
  readonly damage: readonly Damage[];
  readonly route: string;
  readonly salt: string;
  /** What the ramp is set to; undefined where the route is not strict yet. */
  readonly percentage: number | undefined;
  /** What the ramp goes by; files know no sessions, so the steps are counted by task either way. */
  readonly by: Route["ramp"]["by"];
}
