import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { problemLine } from "../../../src/config/problems.js";
import { resolveConfig } from "../../../src/config/resolve.js";

const KEYS = [
  "upstream",
  "listen",
  "host",
  "port",
  "verifyPaths",
  "drainMs",
  "logLevel",
  "routes",
  "name",
  "mode",
  "match",
  "header",
  "pathPrefix",
  "userAgent",
  "matches",
  "translation",
  "status",
  "ramp",
  "percentage",
  "by",
  "salt",
  "only",
  "except",
  "signals",
  "member",
  "__proto__",
  "constructor",
  "toString",
];

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    "strict",
    "observe",
    "passthrough",
    "/a",
    "/a/b",
    "a",
    "*",
    "x.*",
    "[",
    "null",
  ),
  fc.constantFrom<unknown>(
    "http://127.0.0.1:9100",
    null,
    true,
    503,
    9200,
    0,
    100,
    -1,
    0.01,
    Number.NaN,
    Infinity,
  ),
  fc.string(),
  fc.double(),
);

const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: "depth" },
    leaf,
    fc.array(tie("value"), { maxLength: 3, depthIdentifier: "depth" }),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie("value")), {
        maxLength: 5,
        depthIdentifier: "depth",
      })
      .map((pairs) => new Map(pairs)),
  ),
}));

const route = fc
  .record(
    {
      name: leaf,
      mode: fc.constantFrom("strict", "observe", "passthrough", "strickt"),
      match: fc.oneof(
        fc.record({ pathPrefix: leaf, header: anything }, { requiredKeys: [] }),
        anything,
      ),
      only: fc.array(leaf),
      except: fc.array(leaf),
      ramp: anything,
    },
    { requiredKeys: ["name", "mode"] },
  )
  .map((record) => new Map(Object.entries(record)));

const file = fc.record(
  { upstream: leaf, listen: anything, routes: fc.oneof(fc.array(route), anything) },
  { requiredKeys: [] },
);

function settle(text: string): void {
  const result = resolveConfig({}, { name: "f", text });
  if (!("problems" in result)) {
    expect(result.config.upstream.url).toMatch(/^(?:https?:|unix:)/);
    expect(result.config.listen.length).toBeGreaterThan(0);
    return;
  }
  expect(result.problems.length).toBeGreaterThan(0);
  for (const problem of result.problems) expect(problemLine(problem)).toMatch(/^\S[^]*: \S/);
}

describe("loading", () => {
  it("ends in a configuration or in problems, whatever values the file holds", () => {
    fc.assert(
      fc.property(fc.oneof(file, anything), (value) => {
        settle(stringify(value));
      }),
    );
  });

  it("ends in a configuration or in problems, whatever text the file is", () => {
    const pieces = fc.constantFrom(
      "a",
      ": ",
      "\n",
      "  ",
      "- ",
      "[",
      "]",
      "{",
      "}",
      "&a ",
      "*a",
      "!t ",
      '"',
      "'",
      "#",
      "|",
      ">",
      "? ",
      "<<",
      "\t",
      "%",
      ",",
      "---\n",
      "routes",
      "name",
      "upstream",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces).map((list) => list.join("")),
          fc.string({ unit: "binary" }),
        ),
        settle,
      ),
    );
    settle("[".repeat(20_000));
  });

  it("ends in a configuration or in problems, whatever flags and variables say", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom("0", "9200", "strict", "info", "::1"));
    fc.assert(
      fc.property(text, text, text, text, (upstream, port, host, level) => {
        const flags = { upstream, port };
        const env = { MASKGATE_HOST: host, MASKGATE_LOG_LEVEL: level, [`MASKGATE_${level}`]: host };
        expect(Object.keys(resolveConfig({ flags, env }, undefined)).length).toBeGreaterThan(0);
      }),
    );
  });
});
