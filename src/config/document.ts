import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import type { Problem } from "./problems.js";

/** A text that was read as YAML. */
export interface ReadDocument {
  /** What it says, as plain values; undefined where the text is no YAML at all. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** The line, from 1, of what these keys lead to, or of the nearest thing above it. */
  lineOf(keys: readonly PropertyKey[]): number;
}

/** Reads YAML 1.2 (and so JSON). Total: whatever is wrong with the text is a problem. `name` is what problems call it. */
export function readDocument(text: string, name: string): ReadDocument {
  try {
    return read(text, name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const problem = { path: name, wrong: `not valid YAML: ${why}` };
    return { value: undefined, problems: [problem], lineOf: () => 1 };
  }
}

function read(text: string, name: string): ReadDocument {
  const { LineCounter, parseDocument } = loadYaml();
  const lineCounter = new LineCounter();
  // At "error" the parser keeps its warnings to itself; at "silent" it would also overlook a second document.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: "error" });
  const faults = [...document.errors, ...document.warnings];
  const problems = faults.map(({ code, message, pos }): Problem => {
    const { line, col } = lineCounter.linePos(pos[0]);
    const wrong = code === "DUPLICATE_KEY" ? "a key is there twice" : `not valid YAML: ${message}`;
    return { path: name, wrong, place: `line ${line}, column ${col}` };
  });
  const lineOf = (keys: readonly PropertyKey[]): number =>
    lineCounter.linePos(offsetOf(document, keys)).line;
  if (faults.some(({ code }) => code !== "DUPLICATE_KEY")) {
    return { value: undefined, problems, lineOf };
  }
  const value: unknown = document.toJS();
  if (!isTree(value, [])) throw new Error("an alias stands inside its own anchor");
  return { value: value ?? {}, problems, lineOf };
}

function isTree(value: unknown, above: readonly unknown[]): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (above.includes(value)) return false;
  return Object.values(value).every((child) => isTree(child, [...above, value]));
}

function offsetOf(document: Yaml.Document, keys: readonly PropertyKey[]): number {
  const { isAlias, isMap, isScalar, isSeq } = loadYaml();
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of keys) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.findLast(({ key: k }) => isScalar(k) && String(k.value) === key);
      if (pair === undefined) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === "number") {
      node = node.items[key];
      offset = startOf(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  const { range } = node as { range?: readonly number[] | null };
  return range?.[0];
}

/** Loaded only where there is a file to read. */
function loadYaml(): typeof Yaml {
  return createRequire(import.meta.url)("yaml") as typeof Yaml;
}
