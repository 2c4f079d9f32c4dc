import { describe, expect, it } from "vitest";
import { verifyPath } from "../../../src/route/verify-path.js";

// WIRE.md section 6, measured on nemo-gym 0.7.0 (rollout_correlation.py:38,102-118).
describe("verifyPath", () => {
  it.each([
    ["/verify", undefined],
    ["/verify?x=1", undefined],
    ["/verify?", undefined],
    ["/%76erify", undefined],
    ["/%76ERIFY".toLowerCase(), undefined],
    ["http://other.example/verify", undefined],
    ["http://other.example:1/verify?x=/seed_session", undefined],
    ["/verify%0a", undefined],
    ["/verify#x", undefined],
    ["/ng-rollout/abc/verify", "abc"],
    ["/ng-rollout/0-0/verify", "0-0"],
    ["/ng-rollout/0-0-a1/verify", "0-0-a1"],
    ["/ng-rollout/A.b_c-1/verify", "A.b_c-1"],
    ["/ng-rollout/%61bc/verify", "abc"],
    [`/ng-rollout/${"a".repeat(2000)}/verify`, "a".repeat(2000)],
    ["/ng%2Drollout/abc/verify", "abc"],
    ["/ng-rollout/abc/%76erify", "abc"],
    ["/ng-rollout/abc/verify?x=1", "abc"],
    ["/ng-rollout/abc%2Fverify", "abc"],
  ])("takes %s for a verify", (target, rolloutId) => {
    expect(verifyPath(target)).toEqual({ rolloutId });
  });

  it.each([
    "/Verify",
    "//verify",
    "/x/../verify",
    "/verify/",
    "/verify/x",
    "/",
    "",
    "*",
    "/seed_session",
    "/verify%00",
    "/verify;x",
    "/verify%3Fx",
    "/ng-rollout/-a/verify",
    "/ng-rollout/.a/verify",
    "/ng-rollout/a%20b/verify",
    "/ng-rollout/a%2Fb/verify",
    "/ng-rollout/a%0a/verify",
    "/NG-ROLLOUT/a/verify",
    "//ng-rollout/a/verify",
    "/x/ng-rollout/a/verify",
    "/ng-rollout/a/ng-rollout/b/verify",
    "/ng-rollout//verify",
    "/ng-rollout/abc//verify",
    "/ng-rollout/verify",
    "/ng-rollout/abc/seed_session",
    "/ng-rollout/abc/mcp",
    "/verif%",
    "/verify%zz",
    "/verify%0a%0a",
    "/%e0%a4%b6verify",
    "/constructor",
    "/__proto__",
  ])("does not take %s for a verify", (target) => {
    expect(verifyPath(target)).toBeUndefined();
  });

  it("judges by other paths where they are given", () => {
    expect(verifyPath("/run", ["/verify", "/run"])).toEqual({ rolloutId: undefined });
    expect(verifyPath("/run")).toBeUndefined();
  });
});
