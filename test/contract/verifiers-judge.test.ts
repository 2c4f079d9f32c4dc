import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMaskgate } from "./maskgate.js";
import type { Maskgate } from "./maskgate.js";
import { JUDGED, modelServer, question, startResourcesServer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { sees } from "./sees.js";
import { startChatModel, startJudge } from "./stand-in.js";
import { evaluate, fateOf, showEvaluation } from "./verifiers.js";
import type { Evaluation } from "./verifiers.js";

const PLAYED = question("Who proposed the theory of evolution by natural selection?", "darwin");
const LOST = question("Which star heats the surface waters?", "the sun");

/**
 * The peers are vf-eval with the taskset verifiers/v1/tasksets/nemo_gym/taskset.py, and nemo-gym's own
 * equivalence_llm_judge with its own config, whose judge is the model server `policy_model`. A judge that fails is
 * what it masks by itself (nemo_gym/judge.py).
 */
describe.skipIf(lacks("verifiers", "nemo-gym"))("a judge that fails", () => {
  let gate: Maskgate;
  let strict: Evaluation;
  let unchanged: Evaluation;
  let withoutJudge: Evaluation;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(() => ({ say: "The final answer is \\boxed{darwin}." }));
    const judge = await startJudge((prompt) => (prompt.includes(LOST.question) ? 500 : "[[A=B]]"));
    const [judged, unjudged] = await Promise.all([
      startResourcesServer({ server: JUDGED, globals: modelServer("policy_model", judge.url) }),
      startResourcesServer({ server: JUDGED, style: "verifiers" }),
    ]);
    const gates = await Promise.all([
      startMaskgate(judged.url, "--masked-as-error"),
      startMaskgate(judged.url),
      startMaskgate(unjudged.url, "--masked-as-error"),
    ]);
    const run = (through: Maskgate, ...rows: (typeof PLAYED)[]) =>
      evaluate({ rows, resourcesUrl: through.url, modelUrl: `${model.url}/v1` });
    [strict, unchanged] = await Promise.all([
      run(gates[0], PLAYED, LOST),
      run(gates[1], PLAYED, LOST),
    ]);
    withoutJudge = await run(gates[2], PLAYED);
    gate = gates[0];
    await Promise.all([...gates, judged, unjudged].map(({ program }) => program.stop()));
    await Promise.all([model.close(), judge.close()]);
  });
  afterAll(() => {
    showEvaluation("maskgate serve --masked-as-error", strict);
    showEvaluation("maskgate serve", unchanged);
    showEvaluation("maskgate serve --masked-as-error, no judge in the config", withoutJudge);
  });

  test("leaves the answer it did judge a score of 1.0 in both modes", () => {
    for (const { rollouts, lines } of [strict, unchanged]) {
      expect(rollouts[0]).toMatchObject({
        has_error: false,
        error: null,
        rewards: { nemo_gym: 1 },
      });
      expect(lines[0]).toMatch(/^\[success *\].* reward=1\.00/);
    }
  });

  test("with status 500 fails the rollout with the reason when maskgate is strict", () => {
    const lost = strict.rollouts[1];
    expect(lost).toMatchObject({ has_error: true, error: { type: "TaskError" } });
    expect(lost?.error?.message).toContain(
      "Server error '503 Masked: judge_failed: ClientResponseError: 500, message='Internal Server Error'",
    );
    expect(lost?.rewards["nemo_gym"] ?? null).toBeNull();
    expect(strict.lines[1]).toMatch(/^\[error *\].* TaskError/);
    expect(strict.summary).toMatch(/^2\/2 .* reward 1\.00 \(0\.50\) · err 0\.50$/);
    expect(gate.logged("translated")).toMatchObject([{ kind: "judge_failed" }]);
  });

  test("with status 500 is a success scored 0 when maskgate is not strict", () => {
    expect(unchanged.rollouts[1]).toMatchObject({
      has_error: false,
      error: null,
      rewards: { nemo_gym: 0 },
      metrics: { mask_sample: 1 },
    });
    expect(unchanged.lines[1]).toMatch(/^\[success *\].* reward=0\.00/);
    expect(unchanged.summary).toMatch(/^2\/2 .* reward 0\.50 · err 0\.00$/);
  });

  test("is what docs/CLIENTS.md says of it", () => {
    sees("verifiers 0.4.0", {
      passthrough: fateOf(unchanged.rollouts[1]!),
      error: fateOf(strict.rollouts[1]!),
    });
  });

  test("because the config lacks it fails the rollout with the name that is missing", () => {
    const [lost] = withoutJudge.rollouts;
    expect(lost).toMatchObject({ has_error: true, error: { type: "TaskError" } });
    expect(lost?.error?.message).toContain(
      "Server error '503 Masked: judge_failed: ConfigKeyError: Missing key policy_model",
    );
    expect(lost?.rewards["nemo_gym"] ?? null).toBeNull();
    expect(withoutJudge.summary).toMatch(/^1\/1 .* reward — · err 1\.00$/);
  });
});
