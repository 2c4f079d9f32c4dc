import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { EVERY_ROUTE, startMaskgate } from "../contract/maskgate.js";
import {
  JUDGED,
  modelResponse,
  modelServer,
  question,
  startResourcesServer,
} from "../contract/nemo-gym.js";
import { lacks, peer } from "../contract/peers.js";
import type { Capability } from "../contract/peers.js";
import { runProgram, showProgramsOfFailedTests } from "../contract/programs.js";
import { pythonEnvironment } from "../contract/python.js";
import { sees } from "../contract/sees.js";
import { startJudge } from "../contract/stand-in.js";
import { venvVariables } from "../contract/venv.js";

/** One step for each case by its name; `raised` where it ended the training. */
type Steps = Record<string, Step & { readonly raised?: string }>;

interface Case {
  readonly url: string;
  readonly function: string;
}

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
const ROUTES = ["passthrough", "error", "null", "nan", "mirror"];
const LOST = [7];
const ALL_LOST = [0, 1, 2, 3, 4, 5, 6, 7];

/**
 * The peers are a real GRPOTrainer of TRL 1.16.0 on the CPU, whose policy is a tiny model with random weights, and nemo-gym's
 * equivalence_llm_judge. One group of eight completions: the judge approves of the first four, rejects three, and fails for the
 * last; in the case `lost` it fails for all eight.
 */
describe.skipIf(lacks("trl", "nemo-gym"))("a step of TRL's GRPOTrainer", () => {
  let steps: Steps;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const [some, all] = [await group(LOST), await group(ALL_LOST)];
    const cases = {
      direct: { url: some.direct, function: "unsloth" },
      lostDirect: { url: all.direct, function: "unsloth" },
      lost: { url: `${all.gate}/null`, function: "unsloth" },
      ...onEveryRoute(some.gate, "unsloth"),
      ...onEveryRoute(some.gate, "axolotl"),
    };
    steps = await stepWith("trl", cases);
    await Promise.all([some.stop(), all.stop()]);
  });

  test.each([
    "direct",
    "unsloth passthrough",
    "unsloth error",
    "unsloth mirror",
    "axolotl passthrough",
    "axolotl error",
    "axolotl mirror",
  ])("takes the masked completion for a zero of its group: %s", (name) => {
    expect(steps[name]).toMatchObject({
      rewards: [1, 1, 1, 1, 0, 0, 0, 0],
      mean: 0.5,
      advantages: [0.935, 0.935, 0.935, 0.935, -0.935, -0.935, -0.935, -0.935],
      learned: true,
    });
  });

  test.each(["unsloth null", "unsloth nan", "axolotl nan"])(
    "leaves it out of mean, deviation and loss: %s",
    (name) => {
      expect(steps[name]).toMatchObject({
        rewards: [1, 1, 1, 1, 0, 0, 0, null],
        mean: 0.571,
        advantages: [0.802, 0.802, 0.802, 0.802, -1.069, -1.069, -1.069, 0],
        learned: true,
        finite: true,
      });
    },
  );

  test("warns that no reward function scored it, and goes on", () => {
    expect([steps["direct"]?.warned, steps["unsloth null"]?.warned]).toEqual([false, true]);
  });

  test("learns nothing from a group that was lost whole, and logs no mean for it", () => {
    const nothing = { advantages: ALL_LOST.map(() => 0), learned: false, finite: true };
    expect(steps["lost"]).toMatchObject({ ...nothing, mean: null });
    expect(steps["lostDirect"]).toMatchObject({ ...nothing, mean: 0 });
  });

  test("ends the training under null with axolotl's reward function", () => {
    expect(steps["axolotl null"]).toEqual({ raised: "TypeError" });
  });

  test("is what docs/CLIENTS.md says of it", () => {
    const fate = (name: string) => fateOf(steps[name]!);
    sees("TRL 1.16.0, reward function written as Unsloth's", {
      passthrough: fate("unsloth passthrough"),
      error: fate("unsloth error"),
      null: fate("unsloth null"),
      nan: fate("unsloth nan"),
      mirror: fate("unsloth mirror"),
    });
    sees("TRL 1.16.0, reward function written as axolotl's", {
      passthrough: fate("axolotl passthrough"),
      error: fate("axolotl error"),
      null: fate("axolotl null"),
      nan: fate("axolotl nan"),
      mirror: fate("axolotl mirror"),
    });
  });
});

/** The peer is TRL 1.5.1, the last release that counts a completion without a reward; all else is as above. */
describe.skipIf(lacks("trl-1.5.1", "nemo-gym"))("a step of an older GRPOTrainer", () => {
  let steps: Steps;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const some = await group(LOST);
    steps = await stepWith("trl-1.5.1", onEveryRoute(some.gate, "unsloth"));
    await some.stop();
  });

  test.each(ROUTES)("takes the masked completion for a zero of its group: %s", (route) => {
    expect(steps[`unsloth ${route}`]).toMatchObject({
      mean: 0.5,
      advantages: [0.935, 0.935, 0.935, 0.935, -0.935, -0.935, -0.935, -0.935],
    });
  });

  test("is what docs/CLIENTS.md says of it", () => {
    const fate = (name: string) => fateOf(steps[name]!);
    sees("TRL 1.5.1, reward function written as Unsloth's", {
      passthrough: fate("unsloth passthrough"),
      error: fate("unsloth error"),
      null: fate("unsloth null"),
      nan: fate("unsloth nan"),
      mirror: fate("unsloth mirror"),
    });
  });
});

function onEveryRoute(gate: string, name: string): Record<string, Case> {
  const cases = ROUTES.map((route) => {
    const url = route === "passthrough" ? gate : `${gate}/${route}`;
    return [`${name} ${route}`, { url, function: name }] as const;
  });
  return Object.fromEntries(cases);
}

async function stepWith(release: Capability, cases: Record<string, Case>): Promise<Steps> {
  const venv = peer(release);
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
  return JSON.parse(printed) as Steps;
}

/** What became of the masked completion, in the words of docs/CLIENTS.md. */
function fateOf({ raised, mean, advantages }: Steps[string]): string {
  if (raised !== undefined) return `the training ends, ${raised}`;
  return `${advantages[7] === 0 ? "left out" : "counted as 0"}, mean ${mean}`;
}

/** A server whose judge fails for these samples, and a maskgate before it with every route. */
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
  const gate = await startMaskgate(upstream.url, "--config", EVERY_ROUTE);
  return {
    direct: upstream.url,
    gate: gate.url,
    stop: async () => {
      await Promise.all([gate, upstream].map(({ program }) => program.stop()));
      await judge.close();
    },
  };
}
