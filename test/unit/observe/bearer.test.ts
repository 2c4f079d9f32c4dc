import { describe, expect, it } from "vitest";
import { hasToken } from "../../../src/observe/bearer.js";

describe("a bearer token", () => {
  it.each([
    ["Bearer s3cret-token", true],
    ["bearer  s3cret-token", true],
    ["Bearer s3cret-toke", false],
    ["Bearer s3cret-token2", false],
    ["Basic s3cret-token", false],
    ["s3cret-token", false],
    ["Bearer ", false],
    ["", false],
    [undefined, false],
  ])("in %j is the one: %s", (field, expected) => {
    expect(hasToken(field, "s3cret-token")).toBe(expected);
  });
});
