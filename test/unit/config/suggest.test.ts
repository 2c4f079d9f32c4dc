import { describe, expect, it } from "vitest";
import { suggest } from "../../../src/config/suggest.js";

const KEYS = ["upstream", "upstreamTimeoutMs", "connectRetryMs", "routes", "percentage", "header"];

describe("the suggestion", () => {
  it.each([
    ["a letter too few", "upstrem", "upstream"],
    ["two letters swapped", "ruotes", "routes"],
    ["another spelling", "UPSTREAM-TIMEOUT_MS", "upstreamTimeoutMs"],
    ["a plural", "headers", "header"],
    ["the beginning alone", "percent", "percentage"],
    ["the middle alone", "timeout", "upstreamTimeoutMs"],
    ["something else", "zebra", undefined],
    ["too little to tell", "up", undefined],
    ["nothing", "", undefined],
  ])("for %s is the nearest name", (_name, word, expected) => {
    expect(suggest(word, KEYS)).toBe(expected);
  });
});
