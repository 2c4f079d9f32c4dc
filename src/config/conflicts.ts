import type { Listen } from "./config.js";
import { globbing } from "./patterns.js";
import { type LocatedProblem, own, pathText } from "./problems.js";
import { takesAllOf } from "./reach.js";
import { type FileMatch, matchSchema } from "./route-schema.js";
import { foundAt } from "./secrets.js";

/**
 * What is wrong between values that are each fine: total over anything that a file may hold under `routes`.
 * An empty `listen` stands for one that is not known.
 */
export function routeConflicts(routes: unknown, listen: readonly Listen[]): LocatedProblem[] {
  if (!Array.isArray(routes)) return [];
  const ports = new Set(listen.map(({ port }) => port));
  return [
    ...sameNames(routes),
    ...routes.flatMap((route, i) => [
      ...withoutEffect(route, i),
      ...emptyChoice(route, i),
      ...sameHeaders(route, i),
      ...deafPort(route, i, ports),
    ]),
    ...unreachable(routes, ports),
  ];
}

function sameNames(routes: readonly unknown[]): LocatedProblem[] {
  const names = routes.map((route) => own(route, "name"));
  return names.flatMap((name, i) => {
    const first = names.indexOf(name);
    if (typeof name !== "string" || first === i) return [];
    return problem(["routes", i, "name"], "a name that is there twice", name, {
      hint: `routes[${first}] has it already`,
      allowed: "each name once",
    });
  });
}

const TRANSLATING = ["translation", "status", "ramp", "only", "except", "signals"] as const;

function withoutEffect(route: unknown, i: number): LocatedProblem[] {
  if (own(route, "mode") === "passthrough") {
    return TRANSLATING.filter((key) => own(route, key) !== undefined).flatMap((key) =>
      problem(["routes", i, key], "has no effect on a passthrough route", own(route, key), {
        allowed: "only with mode observe or strict",
      }),
    );
  }
  const translation = own(route, "translation") === null ? "null" : own(route, "translation");
  if (
    own(route, "status") === undefined ||
    !["null", "mirror", "nan"].includes(String(translation))
  )
    return [];
  return problem(
    ["routes", i, "status"],
    `has no effect with translation ${String(translation)}`,
    own(route, "status"),
    { allowed: "only with translation error" },
  );
}

function emptyChoice(route: unknown, i: number): LocatedProblem[] {
  const except = texts(own(route, "except")).map((glob) => ({ glob, pattern: globbing(glob) }));
  const only = own(route, "only");
  if (!Array.isArray(only)) return [];
  return only.flatMap((kind: unknown, k) => {
    if (typeof kind !== "string") return [];
    const taken = except.find(
      ({ glob, pattern }) => glob === kind || (!/[*?]/.test(kind) && pattern.test(kind)),
    );
    if (taken === undefined) return [];
    return problem(["routes", i, "only", k], "a kind that except takes away again", kind, {
      hint: `except has "${taken.glob}"`,
    });
  });
}

function sameHeaders(route: unknown, i: number): LocatedProblem[] {
  const header = own(own(route, "match"), "header");
  if (typeof header !== "object" || header === null) return [];
  const names = Object.keys(header);
  const lower = names.map((name) => name.toLowerCase());
  return names.flatMap((name, k) => {
    const path = ["routes", i, "match", "header", name];
    // zod 4 leaves this one out of its records without a word (issue 6220).
    if (name === "__proto__") return problem(path, "no header that can be matched", name, {});
    if (lower.indexOf(lower[k]!) === k) return [];
    return problem(path, "a header that is there twice", name, {
      allowed: "each name once, in any case of letters",
    });
  });
}

function deafPort(route: unknown, i: number, ports: ReadonlySet<number>): LocatedProblem[] {
  const port = own(own(route, "match"), "port");
  if (
    typeof port !== "number" ||
    !(port >= 1 && port <= 65_535) ||
    ports.has(port) ||
    ports.size === 0
  )
    return [];
  return problem(["routes", i, "match", "port"], "a port that is not listened on", port, {
    allowed: [...ports].join(", "),
  });
}

function unreachable(routes: readonly unknown[], ports: ReadonlySet<number>): LocatedProblem[] {
  const matches = routes.map(matchOf);
  return matches.flatMap((later, i) => {
    if (later === undefined) return [];
    const j = matches.findIndex(
      (earlier, k) => k < i && earlier !== undefined && takesAllOf(earlier, later, ports),
    );
    if (j === -1) return [];
    const name = own(routes[j], "name");
    return {
      keys: ["routes", i],
      path: pathText(["routes", i]),
      wrong: `can never be reached, because routes[${j}]${typeof name === "string" ? ` ("${name}")` : ""} takes everything it would`,
      hint: "put the narrower route first",
    };
  });
}

function matchOf(route: unknown): FileMatch | undefined {
  if (typeof route !== "object" || route === null) return undefined;
  const match = own(route, "match");
  if (match === undefined) {
    // Conditions at the wrong level: what the route was meant to take is not known.
    const misplaced = Object.keys(matchSchema.shape).some((key) => own(route, key) !== undefined);
    return misplaced ? undefined : {};
  }
  const { data } = matchSchema.safeParse(match);
  return data;
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

function problem(
  keys: readonly PropertyKey[],
  wrong: string,
  found: unknown,
  more: { readonly allowed?: string; readonly hint?: string },
): LocatedProblem[] {
  return [{ keys, path: pathText(keys), wrong, found: foundAt(keys, found), ...more }];
}
