import { describe, expect, it } from "vitest";
import { cutPrefix, hasPrefix } from "../../../src/route/prefix.js";

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

describe("hasPrefix", () => {
  it.each([
    ["/strict", true],
    ["/strict/verify", true],
    ["/strict?x", true],
    ["/strict#x", true],
    ["http://h:1/strict/verify", true],
    ["/strictly/verify", false],
    ["/strict%2Fverify", false],
    ["/Strict/verify", false],
    ["//strict/verify", false],
    ["http://strict/verify", false],
  ])("of %s is %s", (target, expected) => {
    expect(hasPrefix(target, "/strict")).toBe(expected);
  });
});
