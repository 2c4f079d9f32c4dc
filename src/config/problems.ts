/** One thing that is wrong with the configuration. */
export interface Problem {
  /** Where: the keys down to it; for a flag or a variable, its name. */
  readonly path: string;
  readonly wrong: string;
  /** What stands there, as text; undefined where nothing does. */
  readonly found?: string | undefined;
  readonly allowed?: string | undefined;
  /** What was probably meant. */
  readonly hint?: string | undefined;
  /** File and line. */
  readonly place?: string | undefined;
}

/** A problem of the file, with the keys down to it, by which its line is found. */
export interface LocatedProblem extends Problem {
  readonly keys: readonly PropertyKey[];
}

const FOUND_LENGTH = 80;

/** The problem as one line: `path: what is wrong, found …, allowed …; hint (place)`. */
export function problemLine({ path, wrong, found, allowed, hint, place }: Problem): string {
  const parts = [wrong];
  if (found !== undefined) parts.push(`found ${found}`);
  if (allowed !== undefined) parts.push(`allowed ${allowed}`);
  const line = `${path}: ${parts.join(", ")}`;
  return `${line}${hint === undefined ? "" : `; ${hint}`}${place === undefined ? "" : ` (${place})`}`;
}

/** All problems, one a line; a line that counts them goes before where there are more than one. */
export function problemText(problems: readonly Problem[]): string {
  const lines = problems.map(problemLine);
  if (lines.length === 1) return lines[0]!;
  return [`${lines.length} problems in the configuration:`, ...lines.map((l) => `  ${l}`)].join(
    "\n",
  );
}

/** The keys from the top down, as people write them: `routes[0].match.header.x-client`. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path
    .map((key) => {
      if (typeof key === "number") return `[${key}]`;
      const name = String(key);
      return /^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    })
    .join("")
    .replace(/^\./, "");
  return text === "" ? "(top level)" : text;
}

/** A value as it may stand in a problem, on one line and cut. Total: lists and mappings are only named. */
export function foundText(value: unknown): string | undefined {
  switch (typeof value) {
    case "undefined":
      return undefined;
    case "string": {
      const text = JSON.stringify(value);
      return text.length <= FOUND_LENGTH ? text : `${text.slice(0, FOUND_LENGTH)}…"`;
    }
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "a list" : "a mapping";
    default:
      return String(value);
  }
}

/** `a, b or c`. */
export function anyOf(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)!}`;
}

/** What a list or a mapping itself holds under this key; nothing inherited, and undefined for every other value. */
export function own(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<PropertyKey, unknown>)[key];
}
