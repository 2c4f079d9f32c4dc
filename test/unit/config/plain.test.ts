import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Config } from "../../../src/config/config.js";
import {
  globbing,
  globOf,
  matchingWhole,
  patternFault,
  searchedPattern,
  searching,
  wholePattern,
} from "../../../src/config/patterns.js";
import { plainConfig, withoutSecrets } from "../../../src/config/plain.js";
import { resolveConfig } from "../../../src/config/resolve.js";

const example = readFileSync(
  new URL("../../../config/maskgate.example.yaml", import.meta.url),
  "utf8",
);

function configOf(text: string): Config {
  const result = resolveConfig({}, { name: "f", text });
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

describe("the plain form of a configuration", () => {
  it.each([
    ["the example", example],
    ["defaults alone", "upstream: unix:/run/gym.sock"],
    [
      "a user agent with slashes",
      `{upstream: "http://h:1", routes: [{name: a, mode: strict, match: {userAgent: "a/\\\\d|b"}, translation: nan}]}`,
    ],
  ])("is a file that gives the same one again: %s", (_name, text) => {
    const config = configOf(text);
    expect(configOf(JSON.stringify(plainConfig(config)))).toEqual(config);
  });

  it("writes patterns and globs as they were written", () => {
    const [, route] = plainConfig(configOf(example)).routes ?? [];
    expect(route).toMatchObject({
      match: {
        header: { "x-client": "canary", "x-run": { matches: "canary-[0-9]+" } },
        userAgent: "python-httpx/.*",
      },
      only: ["provider_*", "sandbox_?"],
      signals: [{ member: "failure_reason", matches: "session not found" }],
    });
  });
});

describe("a configuration for showing", () => {
  it("hides the values of headers that open doors, and no others", () => {
    const text = `{upstream: "http://h:1", routes: [{name: a, mode: strict, match:
      {header: {Authorization: b, x-api-key: {matches: c}, x-client: d}}}, {name: e, mode: observe}]}`;
    expect(plainConfig(withoutSecrets(configOf(text))).routes).toMatchObject([
      {
        match: {
          header: { authorization: "(not shown)", "x-api-key": "(not shown)", "x-client": "d" },
        },
      },
      { match: {} },
    ]);
  });
});

describe("a pattern", () => {
  it("comes back as it was given", () => {
    const pieces = fc.constantFrom("a", "/", "\\/", "\\\\", ".", "[/]", "(?:x)", "|", "\\d", "{2}");
    fc.assert(
      fc.property(fc.array(pieces), (list) => {
        const pattern = list.join("");
        fc.pre(pattern !== "" && patternFault(pattern) === undefined);
        const plain = pattern.replace(/\\(.)/g, (all, letter) => (letter === "/" ? "/" : all));
        expect(searchedPattern(searching(pattern))).toBe(plain);
        expect(wholePattern(matchingWhole(pattern))).toBe(plain);
      }),
    );
  });
});

describe("a glob", () => {
  it("comes back as it was given, and matches itself", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "_", "*", "?", ".", "/", "-", "é", "😀") });
    fc.assert(
      fc.property(text, (glob) => {
        expect(globOf(globbing(glob))).toBe(glob);
        expect(globbing(glob).test(glob)).toBe(true);
      }),
    );
  });

  it.each([
    ["provider_*", "provider_", true],
    ["provider_*", "my_provider_x", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a.c", "abc", false],
  ])("%s on %s is %s", (glob, kind, expected) => {
    expect(globbing(glob).test(kind)).toBe(expected);
  });
});
