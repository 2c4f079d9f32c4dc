import { describe, expect, it } from "vitest";
import { doubtsAbout } from "../../../src/cli/doubts.js";
import { resolveConfig } from "../../../src/config/resolve.js";

function doubts(route: string): string[] {
  const text = `{upstream: "http://h:1", routes: [{name: v, mode: strict, ${route}}]}`;
  const loaded = resolveConfig({}, { name: "f", text });
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  return doubtsAbout(loaded.config.routes);
}

describe("what was most likely not meant", () => {
  it.each([
    ["ramp: {percentage: 0.5}", /^route v: percentage 0\.5 is .*50 % is written 50$/],
    ["ramp: {percentage: 0.01}", /1 % is written 1$/],
    ["except: [agent_timeuot]", /"agent_timeuot"; did you mean "agent_timeout"\?$/],
    ["only: [judge-failed]", /did you mean "judge_failed"\?$/],
  ])("is said of %s", (route, says) => {
    expect(doubts(route)).toEqual([expect.stringMatching(says)]);
  });

  it.each([
    "ramp: {percentage: 0}",
    "ramp: {percentage: 1}",
    "ramp: {percentage: 100}",
    "except: [agent_timeout, 'provider_*', 'gridsim:crashed', unspecified, zzzz]",
  ])("is not said of %s", (route) => {
    expect(doubts(route)).toEqual([]);
  });
});
