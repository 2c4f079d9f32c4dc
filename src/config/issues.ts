import { z } from "zod";
import { ALLOWED } from "./about.js";
import { type LocatedProblem, own, pathText } from "./problems.js";
import { fileSchema } from "./schema.js";
import { foundAt } from "./secrets.js";
import { suggest } from "./suggest.js";

type Issue = z.core.$ZodIssue;
type Path = LocatedProblem["keys"];

/** Every problem that `schema` has with `value`; none when it fits. Total: any value will do. */
export function problemsWith(schema: z.ZodType, value: unknown, at: Path = []): LocatedProblem[] {
  const { error } = schema.safeParse(value);
  const found = (error?.issues ?? []).flatMap((issue) => explain(issue, schema, value, at));
  const seen = new Set<string>();
  return found.filter(({ path }) => !seen.has(path) && seen.add(path));
}

function explain(issue: Issue, schema: z.ZodType, value: unknown, at: Path): LocatedProblem[] {
  const input = valueAt(value, issue.path);
  const place = schemaAt(schema, issue.path);
  const keys = [...at, ...issue.path];
  const problem = (wrong: string, hint?: string): LocatedProblem => ({
    keys,
    path: pathText(keys),
    wrong,
    found: foundAt(keys, input),
    allowed: place && ALLOWED.get(unwrapped(place))?.allowed,
    hint,
  });
  if (input === undefined && issue.code.startsWith("invalid_")) return [problem("missing")];
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = knownKeys(place);
      return issue.keys.map((key) => unknownKey(key, known, keys));
    }
    case "invalid_union": {
      const meant = issue.errors.filter((errors) => !errors.some(isOtherType));
      if (meant.length !== 1) return [problem(...mismatch(input, place))];
      return meant[0]!.flatMap((inner) =>
        explain({ ...inner, path: [...issue.path, ...inner.path] }, schema, value, at),
      );
    }
    case "invalid_type":
      return [
        problem(
          `not ${TYPES[issue.expected] ?? issue.expected}`,
          quoting(issue, input) ?? asEndpoint(input, place),
        ),
      ];
    case "invalid_value":
      return [problem("not one of the choices", nearest(input, place))];
    case "too_small":
      return [problem(issue.origin === "number" ? "too small" : "empty")];
    case "too_big":
      return [problem(issue.origin === "number" ? "too large" : "too long")];
    case "invalid_key":
      return [{ ...problem("no header name"), found: undefined, allowed: "letters, digits and -" }];
    case "custom":
      return [problem(issue.message)];
    default:
      return [problem("malformed")];
  }
}

/** A key that no schema knows, with the one that was probably meant. */
export function unknownKey(key: string, known: readonly string[], parent: Path): LocatedProblem {
  const keys = [...parent, key];
  const near = suggest(key, known);
  const home = near === undefined ? HOMES.get(key) : undefined;
  return {
    keys,
    path: pathText(keys),
    wrong: "unknown key",
    found: JSON.stringify(key),
    allowed: known.join(", "),
    hint: near === undefined ? home && `it belongs in ${home}` : `did you mean "${near}"?`,
  };
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  object: "a mapping",
  record: "a mapping",
  array: "a list",
};

const isOtherType = (issue: Issue): boolean =>
  issue.path.length === 0 && issue.code === "invalid_type";

function quoting(issue: { readonly expected: string }, input: unknown): string | undefined {
  const scalar = typeof input === "number" || typeof input === "boolean";
  return issue.expected === "string" && scalar ? "put it in quotes" : undefined;
}

/** What is wrong with a value that is none of several kinds. */
function mismatch(input: unknown, schema: z.ZodType | undefined): [string, string | undefined] {
  const endpoint = asEndpoint(input, schema);
  if (endpoint !== undefined) return ["of the wrong type", endpoint];
  if (typeof input === "string") return ["not one of the choices", nearest(input, schema)];
  return ["of the wrong type", quoting({ expected: "string" }, input)];
}

/** How a bare port, or `HOST:PORT`, is written where a mapping with a port is wanted. */
function asEndpoint(input: unknown, schema: z.ZodType | undefined): string | undefined {
  if (typeof input !== "string" && typeof input !== "number") return undefined;
  if (!knownKeys(schema).includes("port")) return undefined;
  const [, host = "", port] = /^(?:(.*):)?(\d+)$/.exec(String(input)) ?? [];
  if (port === undefined) return undefined;
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const shown = bare.includes(":") ? JSON.stringify(bare) : bare;
  return `write { ${bare === "" ? "" : `host: ${shown}, `}port: ${port} }`;
}

function nearest(input: unknown, schema: z.ZodType | undefined): string | undefined {
  if (typeof input !== "string" || schema === undefined) return undefined;
  const near = suggest(input, choices(unwrapped(schema)));
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

function choices(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodUnion) return optionsOf(schema).flatMap(choices);
  return schema instanceof z.ZodEnum ? schema.options.map(String) : [];
}

function optionsOf(schema: z.ZodUnion): z.ZodType[] {
  return schema.options as z.ZodType[];
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? unwrapped(schema.unwrap() as z.ZodType) : schema;
}

function knownKeys(schema: z.ZodType | undefined): string[] {
  if (schema === undefined) return [];
  const bare = unwrapped(schema);
  if (bare instanceof z.ZodUnion) return optionsOf(bare).flatMap(knownKeys);
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : [];
}

function schemaAt(schema: z.ZodType, [key, ...rest]: Path): z.ZodType | undefined {
  const bare = unwrapped(schema);
  if (key === undefined) return bare;
  if (bare instanceof z.ZodUnion) {
    return optionsOf(bare)
      .map((option) => schemaAt(option, [key, ...rest]))
      .find((found) => found !== undefined);
  }
  const next = childOf(bare, key);
  return next && schemaAt(next, rest);
}

function childOf(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Record<PropertyKey, z.ZodType>;
    return Object.hasOwn(shape, key) ? shape[key] : undefined;
  }
  if (schema instanceof z.ZodArray && typeof key === "number") return schema.element as z.ZodType;
  return schema instanceof z.ZodRecord ? (schema.valueType as z.ZodType) : undefined;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce(own, value);
}

/** Where each key of the file lives, for those that were written at the wrong level. */
const HOMES: ReadonlyMap<string, string> = new Map([
  ["maskedAsError", "a route, as mode: strict"],
  ...[...homesIn(fileSchema, "the top level")].toReversed(),
]);

function homesIn(schema: z.ZodType, home: string): [string, string][] {
  const bare = unwrapped(schema);
  if (bare instanceof z.ZodArray) return homesIn(bare.element as z.ZodType, `${home}[]`);
  if (bare instanceof z.ZodUnion) {
    return optionsOf(bare).flatMap((option) => homesIn(option, home));
  }
  if (!(bare instanceof z.ZodObject)) return [];
  const below = Object.entries(bare.shape as Record<string, z.ZodType>).flatMap(([key, child]) =>
    homesIn(child, home === "the top level" ? key : `${home}.${key}`),
  );
  const here = Object.keys(bare.shape).map((key): [string, string] => [key, home]);
  return [...here, ...below];
}
