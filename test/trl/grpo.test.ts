import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { snippet, startMaskgate } from "../contract/maskgate.js";
import {
  JUDGED,
  modelResponse,
  modelServer,
  question,
  startResourcesServer,
} from "../contract/nemo-gym.js";
import { lacks, peer } from "../contract/peers.js";
import { runProgram, showProgramsOfFailedTests } from "../contract/programs.js";
import { pythonEnvironment } from "../contract/python.js";
import { startJudge } from "../contract/stand-in.js";
import { venvVariables } from "../contract/venv.js";

interface Step {
  /** What the reward function returned, a completion each; `null` is None or NaN. */
  readonly rewards: readonly (number | null)[];
  readonly advantages: readonly number[];
  /** The step's logged `reward` and `reward_std`; `null` is NaN. */
  readonly mean: number | null;
  readonly std: number | null;
  /** Whether the step changed any weight, and whether all are numbers afterwards. */
  readonly learned: boolean;
  readonly finite: boolean;
  readonly warned: boolean;
}

const SCRIPT = fileURLToPath(new URL("../contract/python/trl_step.py", import.meta.url));
const LOST = [7];
const ALL_LOST = [0, 1, 2, 3, 4, 5, 6, 7];

/**
 * The peers are a real GRPOTrainer of TRL 1.16.0 on the CPU, whose policy is a tiny model with random weights, and nemo-gym's
 * equivalence_llm_judge. One group of eight completions: the judge approves of the first four, rejects three, and fails for the
 * last; in the case `lost` it fails for all eight.
 */
describe.skipIf(lacks("trl", "nemo-gym"))("a step of TRL's GRPOTrainer", () => {
  let steps: Record<string, Step & { readonly raised?: string }>;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const [some, all] = [await group(LOST), await group(ALL_LOST)];
    const cases = {
      direct: { url: some.direct, function: "unsloth" },
      passthrough: { url: some.passthrough, function: "unsloth" },
      error: { url: some.error, function: "unsloth" },
      null: { url: some.null, function: "unsloth" },
      nan: { url: some.nan, function: "axolotl" },
      nullToAxolotl: { url: some.null, function: "axolotl" },
      lostDirect: { url: all.direct, function: "unsloth" },
      lost: { url: all.null, function: "unsloth" },
    };
    const venv = peer("trl");
    const printed = await runProgram(
      {
        name: "trl_step.py",
        command: venv.python,
        args: [SCRIPT],
        env: pythonEnvironment(venvVariables(venv)),
      },
      JSON.stringify({
        cases,
        row: question("Which star heats the surface waters?", "the sun"),
        response: modelResponse(""),
      }),
    );
    steps = JSON.parse(printed) as typeof steps;
    await Promise.all([some.stop(), all.stop()]);
    console.table(
      Object.entries(steps).map(([name, { mean, std, advantages, raised }]) => ({
        name,
        mean,
        std,
        "advantages of a good, a bad and the masked one":
          raised ?? [0, 4, 7].map((at) => advantages[at]).join(", "),
      })),
    );
  });

  test.each(["direct", "passthrough", "error"])(
    "takes the masked completion for a zero of its group: %s",
    (name) => {
      expect(steps[name]).toMatchObject({
        rewards: [1, 1, 1, 1, 0, 0, 0, 0],
        mean: 0.5,
        advantages: [0.935, 0.935, 0.935, 0.935, -0.935, -0.935, -0.935, -0.935],
        learned: true,
      });
    },
  );

  test.each(["null", "nan"])("leaves it out of mean, deviation and loss: %s", (name) => {
    expect(steps[name]).toMatchObject({
      rewards: [1, 1, 1, 1, 0, 0, 0, null],
      mean: 0.571,
      advantages: [0.802, 0.802, 0.802, 0.802, -1.069, -1.069, -1.069, 0],
      learned: true,
      finite: true,
    });
  });

  test("warns that no reward function scored it, and goes on", () => {
    expect([steps["direct"]?.warned, steps["null"]?.warned]).toEqual([false, true]);
  });

  test("learns nothing from a group that was lost whole, and logs no mean for it", () => {
    const nothing = { advantages: ALL_LOST.map(() => 0), learned: false, finite: true };
    expect(steps["lost"]).toMatchObject({ ...nothing, mean: null });
    expect(steps["lostDirect"]).toMatchObject({ ...nothing, mean: 0 });
  });

  test("ends the training under null with axolotl's reward function", () => {
    expect(steps["nullToAxolotl"]).toEqual({ raised: "TypeError" });
  });
});

/** A server whose judge fails for these samples, and the ways to it. */
async function group(lost: readonly number[]) {
  const judge = await startJudge((prompt) => {
    const sample = Number(/Sample (\d)/.exec(prompt)?.[1]);
    if (lost.includes(sample)) return 500;
    return sample < 4 ? "[[A=B]]" : "[[A!=B]]";
  });
  const upstream = await startResourcesServer({
    server: JUDGED,
    globals: modelServer("policy_model", judge.url),
  });
  const routes = await startMaskgate(upstream.url, "--config", snippet("reward-functions.yaml"));
  const strict = await startMaskgate(upstream.url, "--masked-as-error");
  return {
    direct: upstream.url,
    passthrough: routes.url,
    error: strict.url,
    null: `${routes.url}/trl`,
    nan: `${routes.url}/axolotl`,
    stop: async () => {
      await Promise.all([routes, strict, upstream].map(({ program }) => program.stop()));
      await judge.close();
    },
  };
}
