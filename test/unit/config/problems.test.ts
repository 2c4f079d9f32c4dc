import { describe, expect, it } from "vitest";
import { problemLine } from "../../../src/config/problems.js";
import { resolveConfig } from "../../../src/config/resolve.js";

const HEAD = "upstream: http://127.0.0.1:9100\n";

function problemsOf(text: string): string[] {
  const result = resolveConfig({}, { name: "f", text });
  return "problems" in result ? result.problems.map(problemLine) : [];
}

const inRoute = (yaml: string): string => `${HEAD}routes: [{name: a, mode: strict, ${yaml}}]`;
const inMatch = (yaml: string): string => inRoute(`match: {${yaml}}`);

describe("one problem", () => {
  it.each<[string, string, string | RegExp]>([
    [
      "a misspelt key",
      `${HEAD}stict: true`,
      /^stict: unknown key, found "stict", allowed upstream, .*routes \(f line 2\)$/,
    ],
    [
      "a key in another spelling",
      `${HEAD}connect-retry-ms: 1`,
      /^connect-retry-ms: unknown key.*; did you mean "connectRetryMs"\? \(f line 2\)$/,
    ],
    [
      "a misspelt key of a route",
      inRoute("exept: [a]"),
      /^routes\[0\]\.exept: unknown key.*; did you mean "except"\?/,
    ],
    [
      "a misspelt key of a match",
      inMatch("pathPrefx: /a"),
      /^routes\[0\]\.match\.pathPrefx: unknown key, found "pathPrefx", allowed port, pathPrefix, header, userAgent; did you mean "pathPrefix"\?/,
    ],
    [
      "a misspelt key of a ramp",
      inRoute("ramp: {percent: 3}"),
      /^routes\[0\]\.ramp\.percent: unknown key.*; did you mean "percentage"\?/,
    ],
    [
      "a misspelt key of a header's value",
      inMatch("header: {x: {matches: a, match: b}}"),
      /^routes\[0\]\.match\.header\.x\.match: unknown key.*; did you mean "matches"\?/,
    ],
    [
      "a misspelt key of a signal",
      inRoute("signals: [{member: a, matches: b, membr: c}]"),
      /^routes\[0\]\.signals\[0\]\.membr: unknown key.*; did you mean "member"\?/,
    ],
    [
      "a misspelt key of listen",
      `${HEAD}listen: {hots: a}`,
      /^listen\.hots: unknown key, found "hots", allowed host, port, tls; did you mean "host"\?/,
    ],
    [
      "a bare port",
      `${HEAD}listen: 19200`,
      /^listen: of the wrong type, found 19200, .*; write \{ port: 19200 \}/,
    ],
    [
      "an address and a port in one",
      `${HEAD}listen: 127.0.0.1:19270`,
      /^listen: .*; write \{ host: 127\.0\.0\.1, port: 19270 \}/,
    ],
    [
      "an IPv6 address and a port in a list",
      `${HEAD}listen: ["[::1]:19270"]`,
      /^listen\[0\]: .*; write \{ host: "::1", port: 19270 \}/,
    ],
    [
      "a bare port for operators",
      `${HEAD}admin: 9201`,
      /^admin: not a mapping, found 9201, .*; write \{ port: 9201 \}/,
    ],
    [
      "a misspelt key in a list of listen",
      `${HEAD}listen: [{prot: 1}]`,
      /^listen\[0\]\.prot: unknown key.*; did you mean "port"\?/,
    ],
    [
      "a key at the wrong level",
      inRoute("pathPrefix: /a"),
      /^routes\[0\]\.pathPrefix: unknown key.*; it belongs in routes\[\]\.match/,
    ],
    [
      "the flag as a key",
      `${HEAD}maskedAsError: true`,
      /^maskedAsError: unknown key.*; it belongs in a route, as mode: strict/,
    ],
    ["__proto__ at the top", `${HEAD}__proto__: {routes: []}`, /^__proto__: unknown key/],
    [
      "__proto__ in a route",
      inRoute("__proto__: {mode: strict}"),
      /^routes\[0\]\.__proto__: unknown key/,
    ],
    [
      "__proto__ in a match",
      inMatch("__proto__: {port: 1}"),
      /^routes\[0\]\.match\.__proto__: unknown key/,
    ],
    [
      "__proto__ as a header",
      inMatch("header: {__proto__: a, x: b}"),
      /^routes\[0\]\.match\.header\.__proto__: no header/,
    ],
    [
      "constructor in a ramp",
      inRoute("ramp: {constructor: 1}"),
      /^routes\[0\]\.ramp\.constructor: unknown key/,
    ],
    ["toString at the top", `${HEAD}toString: 1`, /^toString: unknown key/],
    [
      "a percentage in quotes",
      inRoute('ramp: {percentage: "30%"}'),
      'routes[0].ramp.percentage: not a number, found "30%", allowed a number from 0 to 100 in steps of 0.01 (f line 2)',
    ],
    [
      "a percentage of 101",
      inRoute("ramp: {percentage: 101}"),
      /^routes\[0\]\.ramp\.percentage: too large, found 101/,
    ],
    [
      "a percentage of -1",
      inRoute("ramp: {percentage: -1}"),
      /^routes\[0\]\.ramp\.percentage: too small, found -1/,
    ],
    [
      "a percentage that is no number",
      inRoute("ramp: {percentage: .nan}"),
      /^routes\[0\]\.ramp\.percentage: not a number, found NaN/,
    ],
    [
      "a percentage finer than a bucket",
      inRoute("ramp: {percentage: 0.001}"),
      /^routes\[0\]\.ramp\.percentage: finer than one bucket, found 0.001/,
    ],
    [
      "a number as a text",
      inRoute("ramp: {salt: 42}"),
      /^routes\[0\]\.ramp\.salt: not a text, found 42, .*; put it in quotes/,
    ],
    [
      "a number as a header's value",
      inMatch("header: {x: 1}"),
      /^routes\[0\]\.match\.header\.x: of the wrong type, found 1, .*; put it in quotes/,
    ],
    [
      "a misspelt mode",
      `${HEAD}routes: [{name: a, mode: strickt}]`,
      /^routes\[0\]\.mode: not one of the choices, found "strickt", allowed passthrough .*; did you mean "strict"\?/,
    ],
    ["no mode", `${HEAD}routes: [{name: a}]`, /^routes\[0\]\.mode: missing, allowed passthrough/],
    ["no name", `${HEAD}routes: [{mode: strict}]`, /^routes\[0\]\.name: missing, allowed a text/],
    [
      "a misspelt translation",
      inRoute("translation: mirrored"),
      /^routes\[0\]\.translation: not one of the choices, found "mirrored", allowed error, null, mirror or nan; did you mean "mirror"\?/,
    ],
    [
      "a status that is no error",
      inRoute("status: 200"),
      /^routes\[0\]\.status: too small, found 200, allowed a whole number from 400 to 599/,
    ],
    [
      "a status with a translation",
      inRoute("translation: null, status: 503"),
      /^routes\[0\]\.status: has no effect with translation null, found 503, allowed only with translation error/,
    ],
    [
      "a ramp on a passthrough route",
      `${HEAD}routes: [{name: a, mode: passthrough, ramp: {percentage: 5}}]`,
      /^routes\[0\]\.ramp: has no effect on a passthrough route/,
    ],
    [
      "a kind that is a pattern",
      inRoute('only: ["a|b"]'),
      /^routes\[0\]\.only\[0\]: malformed, found "a\|b"/,
    ],
    ["only with nothing in it", inRoute("only: []"), /^routes\[0\]\.only: empty, found a list/],
    [
      "only and except of the same kind",
      inRoute("only: [a, b], except: [b]"),
      /^routes\[0\]\.only\[1\]: a kind that except takes away again, found "b"; except has "b"/,
    ],
    [
      "only of a kind within except",
      inRoute("only: [judge_x], except: [judge_*]"),
      /^routes\[0\]\.only\[0\]: a kind that except takes away/,
    ],
    [
      "a header pattern that does not compile",
      inMatch('header: {x: {matches: "["}}'),
      /^routes\[0\]\.match\.header\.x\.matches: does not compile \(Unterminated character class\), found "\[", allowed a JavaScript/,
    ],
    [
      "another language's pattern",
      inMatch('userAgent: "(?i)x"'),
      /^routes\[0\]\.match\.userAgent: does not compile \(Invalid group\)/,
    ],
    [
      "a pattern that only compiles in parentheses",
      inMatch('userAgent: "a)(b"'),
      /^routes\[0\]\.match\.userAgent: does not compile/,
    ],
    [
      "an escape that means nothing",
      inRoute('signals: [{member: a, matches: "x\\\\Z"}]'),
      /^routes\[0\]\.signals\[0\]\.matches: does not compile/,
    ],
    [
      "a prefix without a slash",
      inMatch("pathPrefix: a"),
      /^routes\[0\]\.match\.pathPrefix: malformed, found "a", allowed segments such as/,
    ],
    ["a prefix with a slash at its end", inMatch("pathPrefix: /a/"), /pathPrefix: malformed/],
    ["a prefix that is all", inMatch("pathPrefix: /"), /pathPrefix: malformed/],
    ["a prefix with a query", inMatch('pathPrefix: "/a?b"'), /pathPrefix: malformed/],
    ["a prefix with a fragment", inMatch('pathPrefix: "/a#b"'), /pathPrefix: malformed/],
    ["a prefix with an escape", inMatch('pathPrefix: "/a%20b"'), /pathPrefix: malformed/],
    ["a prefix with an empty segment", inMatch("pathPrefix: /a//b"), /pathPrefix: malformed/],
    [
      "a prefix with dots that clients fold",
      inMatch("pathPrefix: /a/../b"),
      /pathPrefix: malformed/,
    ],
    [
      "a header name with a space",
      inMatch('header: {"a b": c}'),
      /^routes\[0\]\.match\.header\["a b"\]: no header name/,
    ],
    [
      "a header twice in two cases",
      inMatch("header: {X-A: a, x-a: b}"),
      /^routes\[0\]\.match\.header\.x-a: a header that is there twice/,
    ],
    [
      "a header value with spaces around",
      inMatch('header: {x: " a"}'),
      /^routes\[0\]\.match\.header\.x: malformed, found " a"/,
    ],
    ["no header in header", inMatch("header: {}"), /^routes\[0\]\.match\.header: empty/],
    [
      "a port that is not listened on",
      inMatch("port: 9300"),
      /^routes\[0\]\.match\.port: a port that is not listened on, found 9300, allowed 9200/,
    ],
    [
      "a port listened on twice",
      `${HEAD}listen: [{port: 1}, {port: 1}]`,
      /^listen\[1\]\.port: a port that is listened on twice, found 1, allowed each port once; listen\[0\] has it already/,
    ],
    [
      "a port under a wildcard",
      `${HEAD}listen: [{port: 1}, {host: 0.0.0.0, port: 1}]`,
      /^listen\[1\]\.port: a port that is listened on twice/,
    ],
    ["nothing to listen on", `${HEAD}listen: []`, /^listen: empty/],
    [
      "a port within the host",
      `${HEAD}listen: {host: "127.0.0.1:80"}`,
      /^listen\.host: malformed, found "127.0.0.1:80"/,
    ],
    [
      "a verify path without a slash",
      `${HEAD}verifyPaths: [verify]`,
      /^verifyPaths\[0\]: malformed/,
    ],
    ["a delay that timers cannot hold", `${HEAD}drainMs: 2147483648`, /^drainMs: too large/],
    [
      "a route that is no mapping",
      `${HEAD}routes: [7]`,
      /^routes\[0\]: not a mapping, found 7, allowed a mapping with name and mode/,
    ],
    [
      "routes that are no list",
      `${HEAD}routes: {a: 1}`,
      /^routes: not a list, found a mapping, allowed a list of routes/,
    ],
    ["a list as the file", "- a", /^\(top level\): not a mapping, found a list/],
    [
      "an upstream with a path",
      "upstream: http://127.0.0.1:9100/x",
      /^upstream: it must have no path or query; use http:\/\/127.0.0.1:9100, found "http:\/\/127.0.0.1:9100\/x" \(f line 1\)/,
    ],
    [
      "itself as the upstream",
      "upstream: http://localhost:9200",
      /^upstream: maskgate's own listening address/,
    ],
    [
      "two routes of one name",
      `${HEAD}routes: [{name: a, mode: strict, match: {pathPrefix: /a}}, {name: a, mode: strict}]`,
      /^routes\[1\]\.name: a name that is there twice, found "a", allowed each name once; routes\[0\] has it already/,
    ],
    ["no YAML", "a: [1", /^f: not valid YAML: .* \(line 1, column 6\)$/],
    ["a key twice", `${HEAD}drainMs: 1\ndrainMs: 2`, "f: a key is there twice (line 3, column 1)"],
    ["two documents", `${HEAD}---\na: 1`, /^f: not valid YAML: .*multiple documents/],
    ["an unknown tag", `${HEAD}drainMs: !ms 3`, /^f: not valid YAML: Unresolved tag: !ms/],
    ["an alias without its anchor", "upstream: *u", /^f: not valid YAML: Unresolved alias/],
    [
      "an alias within its own anchor",
      "routes: &r [*r]",
      /^f: not valid YAML: an alias stands inside its own anchor/,
    ],
  ])("is said of %s", (_name, text, expected) => {
    const lines = problemsOf(text);
    expect(lines).toHaveLength(1);
    if (typeof expected === "string") expect(lines[0]).toBe(expected);
    else expect(lines[0]).toMatch(expected);
  });

  it("does not repeat credentials of an upstream", () => {
    expect(problemsOf("upstream: http://user:secret@h:1").join()).not.toContain("secret");
  });
});

describe("no problem", () => {
  it.each([
    ["two addresses on one port", `${HEAD}listen: [{port: 1}, {host: "::1", port: 1}]`],
    ["two ports that the system chooses", `${HEAD}listen: [{port: 0}, {port: 0}]`],
    ["the text null as a translation", inRoute('translation: "null"')],
    ["a header called constructor", inMatch("header: {constructor: __proto__}")],
    ["a percentage of 0.07", inRoute("ramp: {percentage: 0.07}")],
    ["a percentage of 99.99", inRoute("ramp: {percentage: 99.99}")],
    [
      "a ramp on an observe route",
      `${HEAD}routes: [{name: a, mode: observe, ramp: {percentage: 5}}]`,
    ],
    ["an except that narrows only", inRoute("only: [judge_*], except: [judge_x]")],
  ])("is found in %s", (_name, text) => {
    expect(problemsOf(text)).toEqual([]);
  });
});

describe("all problems", () => {
  it("come at once, each with its line", () => {
    const lines = problemsOf(`upstream: 9100
stict: true
routes:
  - name: a
    mode: strickt
    ramp: {percentage: "30%", byy: task}
  - name: a
    mode: passthrough
    status: 503
    match: {port: 1, pathPrefix: x}
  - name: c
    mode: strict
drainMs: 1
drainMs: 2
`);
    expect(
      lines.map((line) => `${line.split(":")[0]}${/ \([^)]*\)$/.exec(line)?.[0]}`).toSorted(),
    ).toEqual(
      [
        "f (line 14, column 1)",
        "upstream (f line 1)",
        "stict (f line 2)",
        "routes[0].mode (f line 5)",
        "routes[0].ramp.percentage (f line 6)",
        "routes[0].ramp.byy (f line 6)",
        "routes[1].name (f line 7)",
        "routes[1].status (f line 9)",
        "routes[1].match.pathPrefix (f line 10)",
        "routes[1].match.port (f line 10)",
        "routes[2] (f line 11)",
      ].toSorted(),
    );
  });
});
