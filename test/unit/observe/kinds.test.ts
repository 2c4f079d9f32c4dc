import { describe, expect, it } from "vitest";
import { FAILURE_KINDS, kindLabel } from "../../../src/observe/kinds.js";

describe("a kind as a label", () => {
  it("is one of the 22 names that Gym's servers share, as it stands", () => {
    expect(FAILURE_KINDS.size).toBe(22);
    for (const kind of FAILURE_KINDS) expect(kindLabel(kind)).toBe(kind);
    expect(kindLabel("unspecified")).toBe("unspecified");
  });

  it.each([
    "osworld:boot_failed",
    "Judge_failed",
    "judge_failed\n",
    "",
    "constructor",
    "x".repeat(9999),
  ])("is other for %j", (kind) => {
    expect(kindLabel(kind)).toBe("other");
  });
});
