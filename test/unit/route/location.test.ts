import { describe, expect, it } from "vitest";
import { defaultRoute } from "../../../src/config/defaults.js";
import { keepOnRoute } from "../../../src/route/location.js";
import type { Mode, Route } from "../../../src/route/route.js";

const route = (mode: Mode = "strict"): Route => ({
  ...defaultRoute(mode),
  match: { pathPrefix: "/strict" },
});

const back = (
  location: string,
  target = "/strict/a/verify",
  host: string[] = ["Gym:9200"],
): string =>
  keepOnRoute(route(), { target, headers: host.flatMap((name) => ["Host", name]) }, [
    "Location",
    location,
  ])[1]!;

// CASES A19
describe("keepOnRoute", () => {
  it.each([
    ["http://gym:9200/verify", "http://gym:9200/strict/verify"],
    ["HTTPS://GYM:9200", "HTTPS://GYM:9200/strict"],
    ["//gym:9200/verify?x", "//gym:9200/strict/verify?x"],
    ["http://user@gym:9200/verify", "http://user@gym:9200/strict/verify"],
    ["/verify", "/strict/verify"],
    ["/a/./b/..#c", "/strict/a/#c"],
    ["/../x/%2E%2e/verify?y=/../z", "/strict/verify?y=/../z"],
    ["/a/.../..b/verify", "/strict/a/.../..b/verify"],
    ["http://other/verify", "http://other/verify"],
    ["http://gym:92/verify", "http://gym:92/verify"],
    ["//other/../verify", "//other/../verify"],
    ["mailto:gym", "mailto:gym"],
    ["verify", "verify"],
    ["b/verify", "b/verify"],
    ["?x", "?x"],
    ["", ""],
    ["../verify", "/strict/verify"],
    ["../../../verify?x", "/strict/verify?x"],
    [".", "/strict/a/"],
    ["..", "/strict/"],
  ])("makes %s into %s", (location, expected) => {
    expect(back(location)).toBe(expected);
  });

  it.each([
    ["verify", "/strict/verify"],
    ["verify?x", "/strict/verify?x"],
    ["?x", "?x"],
  ])(
    "takes %s as relative to the root where only the prefix was asked for",
    (location, expected) => {
      expect(back(location, "/strict?a/b")).toBe(expected);
      expect(back(location, "http://gym:9200/strict")).toBe(expected);
    },
  );

  it.each([
    ["gym", "http://gym:80/x", true],
    ["gym:80", "http://gym/x", true],
    ["gym:443", "https://gym/x", true],
    ["gym", "//gym:443/x", true],
    ["gym:443", "http://gym/x", false],
    ["gym:80", "https://gym/x", false],
  ])("of Host %s counts %s as its own: %s", (host, location, own) => {
    expect(back(location, "/strict/verify", [host]).includes("/strict/x")).toBe(own);
  });

  it("leaves absolute locations alone where the client named no host", () => {
    expect(back("http://gym:9200/verify", "/strict/verify", [])).toBe("http://gym:9200/verify");
  });

  it("changes nothing on a passthrough route, or on one without a prefix", () => {
    const headers = ["Location", "/verify"];
    const asked = { target: "/strict/verify", headers: [] };
    expect(keepOnRoute(route("passthrough"), asked, headers)).toBe(headers);
    expect(keepOnRoute(defaultRoute("strict"), asked, headers)).toBe(headers);
  });

  it("leaves every other field alone", () => {
    const headers = ["X", "/verify", "content-location", "/verify"];
    expect(keepOnRoute(route(), { target: "/strict/verify", headers: [] }, headers)).toBe(headers);
  });
});
