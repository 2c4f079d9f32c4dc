import { describe, expect, it } from "vitest";
import { defaultRoute } from "../../../src/config/defaults.js";
import { explainMatch, matchRoute, type RequestFacts } from "../../../src/route/match.js";
import type { Match, Route } from "../../../src/route/route.js";

const route = (name: string, match: Match): Route => ({ ...defaultRoute("strict"), name, match });
const facts = (over: Partial<RequestFacts> = {}): RequestFacts => ({
  port: 9200,
  target: "/verify",
  headers: [],
  ...over,
});
const taken = (match: Match, over: Partial<RequestFacts>): boolean =>
  matchRoute([route("r", match)], facts(over)) !== undefined;

describe("matchRoute", () => {
  it("takes everybody where nothing is asked for", () => {
    expect(taken({}, {})).toBe(true);
  });

  it("takes the first match in written order", () => {
    const routes = [route("a", { port: 1 }), route("b", {}), route("c", {})];
    expect(matchRoute(routes, facts())?.name).toBe("b");
    expect(matchRoute([], facts())).toBeUndefined();
  });

  it("goes by the port that the client came in by", () => {
    expect(taken({ port: 9200 }, {})).toBe(true);
    expect(taken({ port: 9201 }, {})).toBe(false);
  });

  it.each([
    ["/strict/verify", true],
    ["/strict", true],
    ["/strict?x", true],
    ["/strict#x", true],
    ["/strict//verify", true],
    ["http://h/strict/verify", true],
    ["/strictly/verify", false],
    ["/strict%2Fverify", false],
    ["/Strict/verify", false],
    ["//strict/verify", false],
    ["/x/strict/verify", false],
    ["/%73trict/verify", false],
    ["/strict;x/verify", false],
    ["*", false],
  ])("judges the prefix of %s at a border of segments: %s", (target, expected) => {
    expect(taken({ pathPrefix: "/strict" }, { target })).toBe(expected);
  });

  // CASES A03, A27
  it.each<[string, string[], boolean]>([
    ["exactly", ["X-Client", "canary"], true],
    ["in another case of the name", ["x-CLIENT", "canary"], true],
    ["with another value", ["x-client", "Canary"], false],
    ["with more around it", ["x-client", "canary2"], false],
    ["twice", ["x-client", "canary", "x-client", "canary"], false],
    ["not at all", [], false],
    ["under a name of every object", ["constructor", "canary", "__proto__", "canary"], false],
  ])("matches a header that is there %s", (_how, headers, expected) => {
    expect(taken({ header: new Map([["x-client", "canary"]]) }, { headers })).toBe(expected);
  });

  it("matches a header by a pattern", () => {
    const header = new Map([["x-client", /^(?:can.*)$/]]);
    expect(taken({ header }, { headers: ["x-client", "canary"] })).toBe(true);
    expect(taken({ header }, { headers: ["x-client", "a canary"] })).toBe(false);
  });

  it.each([
    [["User-Agent", "python-httpx/0.28.1"], true],
    [["User-Agent", "Python/3.12 aiohttp/3.14.5"], false],
    [[], false],
    [["User-Agent", "python-httpx/0.28.1", "User-Agent", "python-httpx/0.28.1"], false],
  ])("matches the user agent of %j: %s", (headers, expected) => {
    expect(taken({ userAgent: /^(?:python-httpx\/.*)$/ }, { headers })).toBe(expected);
  });

  it("asks for everything that is given", () => {
    const match = { port: 9200, pathPrefix: "/v", header: new Map([["a", "1"]]) };
    expect(taken(match, { target: "/v/verify", headers: ["a", "1"] })).toBe(true);
    expect(taken(match, { target: "/verify", headers: ["a", "1"] })).toBe(false);
  });
});

describe("a pattern", () => {
  it("is not tried on a value of more than 8,192 characters", () => {
    const match = { header: new Map([["x", /^.*$/]]) };
    expect(taken(match, { headers: ["x", "a".repeat(8192)] })).toBe(true);
    expect(taken(match, { headers: ["x", "a".repeat(8193)] })).toBe(false);
  });
});

describe("explainMatch", () => {
  it("says why each route before the one taken was passed over", () => {
    const routes = [
      route("port", { port: 1 }),
      route("prefix", { pathPrefix: "/p" }),
      route("header", { header: new Map([["x", "1"]]) }),
      route("value", { header: new Map([["y", "1"]]) }),
      route("agent", { userAgent: /^b$/ }),
      route("doubled", { header: new Map([["z", "1"]]) }),
      route("all", {}),
      route("never", {}),
    ];
    const headers = ["y", "2", "user-agent", "a", "z", "1", "z", "1"];
    const { route: found, steps } = explainMatch(routes, facts({ headers }));
    expect(found?.name).toBe("all");
    expect(steps).toEqual([
      { name: "port", failed: "port is 9200, not 1" },
      { name: "prefix", failed: "the path does not begin with /p/" },
      { name: "header", failed: "there is no x header" },
      { name: "value", failed: 'y is "2", not "1"' },
      { name: "agent", failed: 'user-agent "a" is not matched by ^b$' },
      { name: "doubled", failed: "the z header was sent 2 times" },
      { name: "all", failed: undefined },
    ]);
    expect(explainMatch([], facts())).toEqual({ route: undefined, steps: [] });
  });

  it("names a header whose value is a secret, and neither of the values", () => {
    const routes = [
      route("value", { header: new Map([["x-token", "wanted"]]) }),
      route("pattern", { header: new Map([["x-token", /^wanted$/]]) }),
      route("other", { header: new Map([["y", "1"]]) }),
    ];
    const headers = ["x-token", "sent", "y", "2"];
    const { steps } = explainMatch(routes, facts({ headers }), (name) => name === "x-token");
    expect(steps).toEqual([
      { name: "value", failed: "the value of x-token is another one" },
      { name: "pattern", failed: "the value of x-token is not matched" },
      { name: "other", failed: 'y is "2", not "1"' },
    ]);
  });
});
