import { expect } from "vitest";

/** What became of each test of a suite, by its name. */
export type Outcomes = Readonly<Record<string, string>>;

/** One run of a suite. */
export interface Run {
  readonly outcomes: Outcomes;
  /** The requests that maskgate carried meanwhile. */
  readonly carried: number;
}

/** The tests that ended differently, each as one line. */
export function differences(direct: Outcomes, through: Outcomes): string[] {
  const names = [...new Set([...Object.keys(direct), ...Object.keys(through)])];
  return names
    .filter((name) => direct[name] !== through[name])
    .map((name) => `${name}: ${direct[name] ?? "not run"} / ${through[name] ?? "not run"}`);
}

/** How many tests passed. */
export function passes(outcomes: Outcomes): number {
  return Object.values(outcomes).filter((outcome) => outcome === "passed").length;
}

/** Prints both counts, and fails when a test ended differently, when none passed, or when maskgate carried nothing. */
export function expectSame(suite: string, direct: Run, through: Run): void {
  const counts = `direct: ${passes(direct.outcomes)} passed / through: ${passes(through.outcomes)} passed`;
  console.log(`${suite}: ${counts} (maskgate carried ${through.carried} requests)`);
  expect(differences(direct.outcomes, through.outcomes)).toEqual([]);
  expect(passes(direct.outcomes)).toBeGreaterThan(0);
  expect(direct.carried).toBe(0);
  expect(through.carried).toBeGreaterThan(0);
}
