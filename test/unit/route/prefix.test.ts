import { describe, expect, it } from "vitest";
import { cutPrefix, restorePrefix } from "../../../src/route/prefix.js";

describe("cutPrefix", () => {
  it.each([
    ["/strict/verify", "/verify"],
    ["/strict", "/"],
    ["/strict?x=%2F&&", "/?x=%2F&&"],
    ["/strict//verify", "//verify"],
    ["/strict/../verify?", "/../verify?"],
    ["http://h:1/strict/%76erify", "http://h:1/%76erify"],
    ['/strict/a%2Fb/{"x"}', '/a%2Fb/{"x"}'],
  ])("makes %s into %s and touches no other byte", (target, expected) => {
    expect(cutPrefix(target, "/strict")).toBe(expected);
  });
});

// CASES A19
describe("restorePrefix", () => {
  const back = (location: string, host = ["Host", "Gym:9200"]): string =>
    restorePrefix(["Location", location], "/strict", host)[1]!;

  it.each([
    ["http://gym:9200/verify", "http://gym:9200/strict/verify"],
    ["HTTPS://GYM:9200", "HTTPS://GYM:9200/strict"],
    ["//gym:9200/verify?x", "//gym:9200/strict/verify?x"],
    ["/verify", "/strict/verify"],
    ["http://other/verify", "http://other/verify"],
    ["http://gym:92/verify", "http://gym:92/verify"],
    ["//other/verify", "//other/verify"],
    ["verify", "verify"],
    ["?x", "?x"],
  ])("makes %s into %s", (location, expected) => {
    expect(back(location)).toBe(expected);
  });

  it("leaves absolute locations alone where the client named no host", () => {
    expect(back("http://gym:9200/verify", [])).toBe("http://gym:9200/verify");
  });

  it("leaves every other field alone", () => {
    const headers = ["X", "/verify", "content-location", "/verify"];
    expect(restorePrefix(headers, "/strict", [])).toBe(headers);
  });
});
