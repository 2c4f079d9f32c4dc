import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../../src/config/resolve.js";

function unreachable(earlier: string, later: string, listen = "[{port: 1}, {port: 2}]"): boolean {
  const text = `{upstream: "http://h:9", listen: ${listen}, routes: [
    {name: a, mode: strict, match: ${earlier}}, {name: b, mode: observe, match: ${later}}]}`;
  const result = resolveConfig({}, { name: "f", text });
  const problems = "problems" in result ? result.problems : [];
  expect(problems.filter(({ path }) => path !== "routes[1]")).toEqual([]);
  return problems.length > 0;
}

describe("a later route", () => {
  it.each([
    ["after one that takes everything", "{}", "{pathPrefix: /a}"],
    ["after the same one", "{port: 1, pathPrefix: /a}", "{port: 1, pathPrefix: /a}"],
    ["with one condition more", "{port: 1}", "{port: 1, pathPrefix: /a}"],
    ["under the prefix of the earlier", "{pathPrefix: /a}", "{pathPrefix: /a/b}"],
    ["with the same header and more", "{header: {X-A: b}}", "{header: {x-a: b, x-c: d}}"],
    [
      "with a value that the pattern matches",
      '{header: {x: {matches: "c.*"}}}',
      "{header: {x: canary}}",
    ],
    ["with the same pattern", '{header: {x: {matches: "c.*"}}}', '{header: {x: {matches: "c.*"}}}'],
    [
      "with any pattern after every value",
      '{header: {x: {matches: ".*"}}}',
      '{header: {x: {matches: "c"}}}',
    ],
    ["with the user agent as a header", '{userAgent: "py.*"}', "{header: {User-Agent: python}}"],
    ["after the only listening port", "{port: 1}", "{}", "{port: 1}"],
  ])("is never reached %s", (_name, earlier, later, listen?: string) => {
    expect(unreachable(earlier, later, listen)).toBe(true);
  });

  it.each([
    ["without the earlier one's condition", "{port: 1}", "{}"],
    ["on another port", "{port: 1}", "{port: 2}"],
    ["with a longer name of its prefix", "{pathPrefix: /a}", "{pathPrefix: /ab}"],
    ["above the earlier prefix", "{pathPrefix: /a/b}", "{pathPrefix: /a}"],
    ["with another value", "{header: {x: a}}", "{header: {x: b}}"],
    [
      "with a value that the pattern matches only in part",
      '{header: {x: {matches: "c"}}}',
      "{header: {x: canary}}",
    ],
    ["with a pattern after a value", "{header: {x: a}}", '{header: {x: {matches: "a"}}}'],
    ["with another header", '{header: {x: {matches: ".*"}}}', "{header: {y: a}}"],
    ["with another user agent", '{userAgent: "py.*"}', '{userAgent: "aio.*"}'],
  ])("is reached %s", (_name, earlier, later) => {
    expect(unreachable(earlier, later)).toBe(false);
  });

  it("is told which route takes everything it would", () => {
    const text =
      "{upstream: 'http://h:9', routes: [{name: all, mode: strict}, {name: b, mode: observe}]}";
    expect(resolveConfig({}, { name: "f", text })).toEqual({
      problems: [
        {
          path: "routes[1]",
          wrong: 'can never be reached, because routes[0] ("all") takes everything it would',
          hint: "put the narrower route first",
          place: "f line 1",
        },
      ],
    });
  });
});
