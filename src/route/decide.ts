import type { Verdict } from "../mask/verdict.js";
import { bucketOf, isBelow } from "./bucket.js";
import type { Route } from "./route.js";

/** What is made of an answer on its route, and why a masked one is let through. */
export type Decision =
  | { readonly decision: "translate" }
  | {
      readonly decision: "pass";
      readonly because:
        | "not masked"
        | "route is not strict"
        | "kind is excluded"
        | "held back by ramp"
        | "no key for the ramp";
    };

const TRANSLATE: Decision = { decision: "translate" };

/** Whether `decide` has to know the key of an answer on this route: not where the ramp takes nobody or everybody. */
export function needsKey({ ramp }: Route): boolean {
  return ramp.percentage > 0 && ramp.percentage < 100;
}

/** The decision on one answer. Without a key nothing is translated below 100 %, so that no group can be split by chance. */
export function decide(route: Route, verdict: Verdict, key: string | undefined): Decision {
  if (verdict.verdict !== "masked") return pass("not masked");
  if (route.mode !== "strict") return pass("route is not strict");
  if (!concerns(route, verdict.kind)) return pass("kind is excluded");
  const { percentage, salt } = route.ramp;
  if (percentage === 100) return TRANSLATE;
  if (percentage === 0) return pass("held back by ramp");
  if (key === undefined) return pass("no key for the ramp");
  return isBelow(bucketOf(salt, key), percentage) ? TRANSLATE : pass("held back by ramp");
}

function concerns({ only, except }: Route, kind: string): boolean {
  const among = (patterns: readonly RegExp[]): boolean => patterns.some((p) => p.test(kind));
  return (only === undefined || among(only)) && !among(except);
}

function pass(because: Extract<Decision, { decision: "pass" }>["because"]): Decision {
  return { decision: "pass", because };
}
