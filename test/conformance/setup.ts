import type { TestProject } from "vitest/node";
import { conformanceVenv } from "./venvs.js";

/** Makes the environment in which nemo-gym's servers run, or finds it made. */
export async function setup(project: TestProject): Promise<void> {
  const gym = await conformanceVenv({
    name: "nemo-gym-0.7.0-tests",
    bare: ["nemo-gym==0.7.0"],
    prepare: "check_gym_tests.py",
  });
  const verifiers = { missing: "no suite here needs verifiers" };
  project.provide("peers", { "nemo-gym": gym, verifiers });
}
