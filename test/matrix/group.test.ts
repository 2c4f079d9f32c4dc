import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMaskgate } from "../contract/maskgate.js";
import { JUDGED, modelServer, question, startResourcesServer } from "../contract/nemo-gym.js";
import { lacks } from "../contract/peers.js";
import { showProgramsOfFailedTests } from "../contract/programs.js";
import { startChatModel, startJudge } from "../contract/stand-in.js";
import { evaluate, showEvaluation } from "../contract/verifiers.js";
import type { Evaluation } from "../contract/verifiers.js";

const GROUP = 8;
const TASK = question("Which star heats the surface waters?", "the sun");

/**
 * The peer is `vf-eval -r 8` of verifiers 0.4.0: one group, of which the judge approves of four, rejects three and fails for
 * one. With SAVED_RUNS both runs are kept there, for `prime_rl_groups.py`.
 */
describe.skipIf(lacks("verifiers", "nemo-gym"))("a group with one masked member", () => {
  const runs: Partial<Record<"strict" | "passthrough", Evaluation>> = {};
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(() => ({ say: "I looked it up." }));
    for (const name of ["strict", "passthrough"] as const) {
      let asked = 0;
      const judge = await startJudge(() => {
        asked += 1;
        if (asked === GROUP) return 500;
        return asked <= GROUP / 2 ? "[[A=B]]" : "[[A!=B]]";
      });
      const upstream = await startResourcesServer({
        server: JUDGED,
        globals: modelServer("policy_model", judge.url),
      });
      const strict = name === "strict" ? ["--masked-as-error"] : [];
      const gate = await startMaskgate(upstream.url, ...strict);
      runs[name] = await evaluate({
        rows: [TASK],
        resourcesUrl: gate.url,
        modelUrl: `${model.url}/v1`,
        args: ["-r", String(GROUP)],
        keepAs: name,
      });
      await Promise.all([gate, upstream].map(({ program }) => program.stop()));
      await judge.close();
    }
    await model.close();
  });
  afterAll(() => {
    showEvaluation("a group of eight, strict", runs.strict!);
    showEvaluation("a group of eight, passthrough", runs.passthrough!);
  });

  test("has the mean of its seven survivors when maskgate is strict", () => {
    expect(scores(runs.strict!)).toEqual([0, 0, 0, 1, 1, 1, 1]);
    expect(runs.strict!.rollouts).toHaveLength(GROUP);
    expect(advantages(scores(runs.strict!))).toEqual([-0.571, 0.429]);
  });

  test("has a lower mean when it is not, and counts the masked one against itself", () => {
    expect(scores(runs.passthrough!)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(advantages(scores(runs.passthrough!))).toEqual([-0.5, 0.5]);
  });
});

function scores({ rollouts }: Evaluation): number[] {
  const measured = rollouts.filter(({ has_error }) => !has_error);
  return measured.map(({ rewards }) => rewards["nemo_gym"] ?? NaN).toSorted((a, b) => a - b);
}

/** What a bad and a good rollout gain over the mean of their group. */
function advantages(rewards: readonly number[]): number[] {
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  return [0, 1].map((reward) => Number((reward - mean).toFixed(3)));
}
