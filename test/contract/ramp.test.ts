import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { snippet, startMaskgate } from "./maskgate.js";
import type { Maskgate } from "./maskgate.js";
import { JUDGED, modelServer, question, startResourcesServer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { startChatModel, startJudge } from "./stand-in.js";
import { evaluate, showEvaluation } from "./verifiers.js";
import type { Evaluation, Rollout } from "./verifiers.js";

const GROUP = 8;
const JUDGE_FAILS_AT = [2, 3, 5];
const TASKS = [
  question("Who proposed the theory of evolution by natural selection?", "darwin"),
  question("Which star heats the surface waters?", "the sun"),
  question("Which metal is liquid in a room?", "mercury"),
];

/**
 * The peers are `vf-eval -r 8` and nemo-gym's equivalence_llm_judge behind `ramp-2-half.yaml`. In each task the judge
 * fails three times, so every group of eight has three masked members and five that were scored 1.0.
 */
describe.skipIf(lacks("verifiers", "nemo-gym"))("a ramp of 50 % over groups of eight", () => {
  let gate: Maskgate;
  let run: Evaluation;
  let groups: Rollout[][];
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(() => ({ say: "I looked it up." }));
    const asked = TASKS.map(() => 0);
    const judge = await startJudge((prompt) => {
      const task = TASKS.findIndex(({ question: text }) => prompt.includes(text));
      asked[task] = (asked[task] ?? 0) + 1;
      return JUDGE_FAILS_AT.includes(asked[task]) ? 500 : "[[A=B]]";
    });
    const upstream = await startResourcesServer({
      server: JUDGED,
      globals: modelServer("policy_model", judge.url),
    });
    gate = await startMaskgate(upstream.url, "--config", snippet("ramp-2-half.yaml"));
    run = await evaluate({
      rows: TASKS,
      resourcesUrl: gate.url,
      modelUrl: `${model.url}/v1`,
      snippets: ["prefix.toml"],
      args: ["-r", String(GROUP)],
    });
    groups = TASKS.map((task) =>
      run.rollouts.filter(({ row }) => row["question"] === task.question),
    );
    await Promise.all([gate, upstream].map(({ program }) => program.stop()));
    await Promise.all([model.close(), judge.close()]);
  });
  afterAll(() => showEvaluation("vf-eval -r 8 on a ramp of 50 %", run));

  test("treats the masked members of one group all alike", () => {
    const lost = groups.map((group) => group.filter(({ has_error }) => has_error).length);
    const zeros = groups.map((group) => group.filter(isMaskedZero).length);
    expect(groups.map(({ length }) => length)).toEqual(TASKS.map(() => GROUP));
    for (const [at, errors] of lost.entries()) {
      expect([errors, zeros[at]]).toEqual(
        errors === 0 ? [0, JUDGE_FAILS_AT.length] : [JUDGE_FAILS_AT.length, 0],
      );
    }
    expect(lost.toSorted((a, b) => a - b)).toEqual(ERRORS);
  });

  test("leaves the survivors of a strict group the mean of what was measured", () => {
    const means = groups.map((group) => {
      const scores = group.flatMap(({ has_error, rewards }) =>
        has_error ? [] : [rewards["nemo_gym"] ?? Number.NaN],
      );
      return scores.reduce((sum, score) => sum + score, 0) / scores.length;
    });
    expect(means.toSorted((a, b) => a - b)).toEqual(
      ERRORS.map((errors) => (errors === 0 ? 5 / 8 : 1)),
    );
  });

  test("logs what it translated and what it held back", () => {
    const strict = ERRORS.reduce((sum, errors) => sum + errors, 0);
    expect(gate.logged("translated")).toHaveLength(strict);
    expect(gate.logged("let_through").map(({ because }) => because)).toEqual(
      Array(TASKS.length * JUDGE_FAILS_AT.length - strict).fill("held back by ramp"),
    );
  });
});

// How many are in is a matter of the salt and the rows alone, so it is the same on every machine.
const ERRORS = [0, 3, 3];

function isMaskedZero({ has_error, metrics, rewards }: Rollout): boolean {
  return !has_error && metrics["mask_sample"] === 1 && rewards["nemo_gym"] === 0;
}
