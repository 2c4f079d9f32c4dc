import { type Hint, hintOf } from "./sightings.js";

/** A route's own signal: the answer is masked when the text of a top-level member matches. */
export interface CustomSignal {
  /** Name of the top-level member; its value counts only when it is a JSON string. */
  readonly member: string;
  /** Tested against the decoded text; one of over 64 KiB leaves the verdict `unknown` where nothing else masks the answer. `g` and `lastIndex` are without effect. */
  readonly matches: RegExp;
}

/** One place in an answer that can say "this reward is no measurement". */
export interface Signal {
  /** What logs and replies call it. */
  readonly name: string;
  /** The member, from the top level down. */
  readonly path: readonly [string] | readonly [string, string];
  /** What its value must be, as Python reads it, for the answer to be masked. */
  readonly test: "truthy" | "not-null" | RegExp;
  /** What shows where the signal can be at the earliest; `undefined` when nothing does. */
  readonly hint: Hint | undefined;
}

// Serves both places: the first member that can hold instance_config.mask_sample is the one in
// which the first mask_sample lies.
const MASK_HINT = hintOf("_sample", '"');

/** Shows where members can be whose name begins with `_ng_failure_` or is `_ng_no_persist`. */
export const NG_HINT = hintOf("_ng_", "fn");

/**
 * The signals of nemo-gym, most telling first. Source: nemo-gym 0.7.0 `rollout_collection.py`
 * (`_ng_no_persist`, `_ng_failure_class`, `mask_sample`) and NeMo RL (`instance_config.mask_sample`).
 */
export const BUILT_IN_SIGNALS: readonly Signal[] = [
  { name: "mask_sample", path: ["mask_sample"], test: "truthy", hint: MASK_HINT },
  {
    name: "instance_config.mask_sample",
    path: ["instance_config", "mask_sample"],
    test: "truthy",
    hint: MASK_HINT,
  },
  { name: "_ng_failure_class", path: ["_ng_failure_class"], test: "not-null", hint: NG_HINT },
  { name: "_ng_no_persist", path: ["_ng_no_persist"], test: "truthy", hint: NG_HINT },
];

/** Members whose text is the kind of a masked answer, the first non-empty one first. */
export const KIND_MEMBERS: readonly string[] = ["failure_kind", "_ng_failure_class"];

/** How much of a kind is read, in bytes of JSON. */
export const MOST_KIND_BYTES = 1024;

/** How much is read of a reason, which stands in memory several times over, how long a text may be that a route's own signal is searched for in, and a number that a signal looks at. */
export const MOST_TEXT_BYTES = 64 * 1024;

/** The kind of a masked answer that names none. */
export const UNSPECIFIED_KIND = "unspecified";

/** Places whose text is the reason of a masked answer, the first non-empty one first. */
export const REASON_PATHS: readonly (readonly [string] | readonly [string, string])[] = [
  ["failure_reason"],
  ["_ng_failure_judge_error"],
  ["_ng_failure_message"],
  ["judge_response", "error"],
  ["judge_generation_error"],
  ["error"],
];

/** The reason of a masked answer that gives none. */
export const NO_REASON = "The server gave no reason.";

/** Everything a scan must know before the first byte. */
export interface SignalPlan {
  readonly signals: readonly Signal[];
  /** Names of the top-level members worth remembering. */
  readonly members: ReadonlySet<string>;
  /** The hints of the signals, each once. */
  readonly hints: readonly Hint[];
}

// Only in such a name is every escaped spelling of a character \u004x to \u007x.
const HINTABLE = /^[A-Za-z_]+$/;

// An underscore is rarer than a letter or a quote, so a search that begins with it is faster.
const tailOf = (name: string): string => name.slice(Math.max(0, name.indexOf("_")));

const fromCustom = ({ member, matches }: CustomSignal): Signal => ({
  name: member,
  path: [member],
  test: matches,
  hint: HINTABLE.test(member) ? hintOf(tailOf(member), '"') : undefined,
});

/** The plan for the built-in signals followed by a route's own. */
export function planSignals(custom: readonly CustomSignal[]): SignalPlan {
  const signals = [...BUILT_IN_SIGNALS, ...custom.map(fromCustom)];
  const members = new Set([
    ...signals.map(({ path }) => path[0]),
    ...KIND_MEMBERS,
    ...REASON_PATHS.map(([name]) => name),
  ]);
  return {
    signals,
    members,
    hints: [...new Set(signals.flatMap(({ hint }) => hint ?? []))],
  };
}
