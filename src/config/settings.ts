import { z } from "zod";
import { foundText, type Problem } from "./problems.js";
import { problemsWith } from "./issues.js";
import { SCALARS } from "./schema.js";
import { suggest } from "./suggest.js";

type Key = keyof typeof SCALARS;

/** What the command line gave, as it was typed. */
export type Flags = { readonly [K in Key]?: string | undefined } & {
  readonly maskedAsError?: boolean | undefined;
};

/** The environment, handed in by who may read it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A value and what gave it: `argument`, `--port`, `MASKGATE_PORT`. */
export interface Given<T> {
  readonly value: T;
  readonly source: string;
}

/** What flags and variables gave, flags before variables. */
export interface Settings {
  readonly values: { readonly [K in Key]?: Given<NonNullable<z.infer<(typeof SCALARS)[K]>>> };
  readonly maskedAsError: Given<boolean>;
  readonly problems: readonly Problem[];
}

const KEYS = Object.keys(SCALARS) as Key[];

/** The variables that maskgate reads. */
export const VARIABLES: readonly string[] = [
  "MASKGATE_CONFIG",
  "MASKGATE_MASKED_AS_ERROR",
  ...KEYS.map(variableOf),
];

/** Reads flags and variables; an empty variable counts as none. */
export function readSettings(flags: Flags, env: Environment): Settings {
  const problems: Problem[] = [...unknownVariables(env)];
  const values: Record<string, Given<unknown>> = {};
  for (const key of KEYS) {
    const given = [
      { text: env[variableOf(key)], source: variableOf(key) },
      { text: flags[key], source: flagOf(key) },
    ];
    for (const { text, source } of given) {
      if (text === undefined || (text === "" && source.startsWith("MASKGATE_"))) continue;
      if (isServiceLink(source, text)) continue;
      const value = isNumeric(key) && /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
      const wrong = problemsWith(SCALARS[key], value, [key]);
      problems.push(...wrong.map((problem) => ({ ...problem, path: source })));
      if (wrong.length === 0)
        values[key] = { value, source: source === "upstream" ? "argument" : source };
    }
  }
  const masked = readMasked(flags, env);
  if ("problem" in masked) problems.push(masked.problem);
  return {
    values,
    maskedAsError: "problem" in masked ? { value: false, source: "default" } : masked,
    problems,
  };
}

function readMasked(flags: Flags, env: Environment): Given<boolean> | { problem: Problem } {
  if (flags.maskedAsError !== undefined) {
    return { value: flags.maskedAsError, source: "--masked-as-error" };
  }
  const source = "MASKGATE_MASKED_AS_ERROR";
  const text = env[source] ?? "";
  if (text === "") return { value: false, source: "default" };
  if (/^(?:true|1|yes|on)$/i.test(text)) return { value: true, source };
  if (/^(?:false|0|no|off)$/i.test(text)) return { value: false, source };
  const wrong = "neither true nor false";
  return { problem: { path: source, wrong, found: foundText(text), allowed: "true or false" } };
}

function unknownVariables(env: Environment): Problem[] {
  return Object.entries(env).flatMap(([name, text = ""]) => {
    if (!name.startsWith("MASKGATE_") || VARIABLES.includes(name)) return [];
    if (isServiceLink(name, text)) return [];
    const near = suggest(name, VARIABLES);
    const hint = near && `did you mean ${near}?`;
    return { path: name, wrong: "unknown variable", allowed: VARIABLES.join(", "), hint };
  });
}

/**
 * Whether this is one of the variables that Kubernetes sets in every pod for a Service called maskgate or maskgate-…:
 * `MASKGATE_PORT=tcp://10.0.0.1:9200`, `MASKGATE_SERVICE_HOST`, `MASKGATE_PORT_9200_TCP_ADDR`.
 */
function isServiceLink(name: string, text: string): boolean {
  return (
    (name.endsWith("_PORT") && /^(?:tcp|udp|sctp):\/\//.test(text)) ||
    /_SERVICE_(?:HOST|PORT)(?:_[A-Z0-9_]+)?$/.test(name) ||
    /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name)
  );
}

function isNumeric(key: Key): boolean {
  return SCALARS[key].unwrap() instanceof z.ZodNumber;
}

function variableOf(key: string): string {
  return `MASKGATE_${key.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

function flagOf(key: string): string {
  return key === "upstream" ? key : `--${key.replace(/[A-Z]/g, "-$&").toLowerCase()}`;
}
