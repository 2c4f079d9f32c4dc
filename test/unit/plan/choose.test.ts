import { describe, expect, it } from "vitest";
import { defaultRoute } from "../../../src/config/defaults.js";
import { chooseRoute } from "../../../src/plan/choose.js";

const strict = { ...defaultRoute("strict"), name: "strict" };
const observe = { ...defaultRoute("observe"), name: "observe" };
const plain = { ...defaultRoute("passthrough"), name: "plain" };

describe("chooseRoute", () => {
  it("takes the route of the name, whatever its mode", () => {
    expect(chooseRoute([strict, plain], "plain")).toBe(plain);
  });

  it("takes the only route that is strict or observes where no name is given", () => {
    expect(chooseRoute([plain, observe], undefined)).toBe(observe);
  });

  it("says which names there are where the choice is not clear", () => {
    expect(chooseRoute([strict, plain, observe], undefined)).toContain("--route: strict, observe");
    expect(chooseRoute([plain], undefined)).toContain("name one with --route: plain");
    expect(chooseRoute([], undefined)).toContain("there is none");
    expect(chooseRoute([strict, plain], "x")).toContain('no route "x"');
    expect(chooseRoute([], "x")).toContain("has: none");
  });
});
