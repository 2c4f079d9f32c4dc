import { beforeAll, describe, expect, test } from "vitest";
import { collect, comparable, fateOf } from "./collector.js";
import type { Collected } from "./collector.js";
import { startMaskgate } from "./maskgate.js";
import { JUDGED, modelServer, question, startResourcesServer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { sees } from "./sees.js";
import { startJudge } from "./stand-in.js";

const PLAYED = question("Who proposed the theory of evolution by natural selection?", "darwin");
const LOST = question("Which star heats the surface waters?", "the sun");

/**
 * The peers are nemo-gym's own RolloutCollectionHelper, its simple_agent (`/run`) and its equivalence_llm_judge, whose
 * judge fails for one of two rows. Two samples of each row are collected directly, through a passthrough maskgate, and
 * through a strict one, where Gym does not belong.
 */
describe.skipIf(lacks("nemo-gym")).each([false, true])(
  "Gym's own collector with observability %s",
  (observability) => {
    let runs: Record<"direct" | "passthrough" | "strict", Collected>;
    let paths: unknown[];
    showProgramsOfFailedTests();

    beforeAll(async () => {
      const model = await startJudge(() => "The final answer is \\boxed{darwin}.");
      const judge = await startJudge((prompt) =>
        prompt.includes(LOST.question) ? 500 : "[[A=B]]",
      );
      const upstream = await startResourcesServer({
        server: JUDGED,
        globals: modelServer("policy_model", judge.url),
      });
      const gates = await Promise.all([
        startMaskgate(upstream.url, "--log-level", "debug"),
        startMaskgate(upstream.url, "--masked-as-error"),
      ]);
      const addresses = { direct: upstream.url, passthrough: gates[0].url, strict: gates[1].url };
      runs = await collect({ model: model.url, addresses, rows: [PLAYED, LOST], observability });
      paths = gates[0].logged("request").map(({ path }) => path);
      await Promise.all([...gates, upstream].map(({ program }) => program.stop()));
      await Promise.all([model.close(), judge.close()]);
    });

    test("writes the same rollouts, failures and metrics through a passthrough route", () => {
      expect(runs.direct.raised).toBeNull();
      expect(runs.direct.rollouts).not.toHaveLength(0);
      expect(comparable(runs.passthrough)).toEqual(comparable(runs.direct));
    });

    test("sends the judge failures to the sidecar with the whole answer", () => {
      for (const { rollouts, failures } of [runs.direct, runs.passthrough]) {
        expect(rollouts.map(({ reward }) => reward)).toEqual([1, 1]);
        expect(failures).toHaveLength(2);
        for (const failure of failures) {
          expect(failure).toMatchObject({ _ng_failure_class: "judge_failed", reward: 0 });
          expect(failure).toHaveProperty("response");
        }
      }
    });

    test("asks for the paths that it uses by itself", () => {
      const verifies = paths.filter((path) => String(path).endsWith("/verify"));
      expect(verifies).toHaveLength(4);
      for (const path of verifies) {
        expect(path).toMatch(observability ? /^\/ng-rollout\/[^/]+\/verify$/ : /^\/verify$/);
      }
    });

    test("raises on a strict route, where the answer is lost", () => {
      expect(runs.strict.raised).toMatch(/500/);
      expect(runs.strict.failures).toEqual([]);
    });

    test("is what docs/CLIENTS.md says of it", () => {
      sees("NeMo Gym 0.7.0, simple_agent and rollout collector", {
        passthrough: fateOf(runs.passthrough),
        error: fateOf(runs.strict),
      });
    });
  },
);
