import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { startMaskgate } from "./maskgate.js";
import { JUDGED, modelServer, question, startResourcesServer } from "./nemo-gym.js";
import type { Row } from "./nemo-gym.js";
import { lacks, peer } from "./peers.js";
import { runProgram, showProgramsOfFailedTests } from "./programs.js";
import { pythonEnvironment } from "./python.js";
import { startJudge } from "./stand-in.js";
import { venvVariables } from "./venv.js";

interface Collected {
  readonly raised: string | null;
  readonly rollouts: readonly Row[];
  readonly failures: readonly Row[];
  readonly metrics: unknown;
}

const HERE = fileURLToPath(new URL(".", import.meta.url));
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
  },
);

async function collect(work: Row): Promise<Record<"direct" | "passthrough" | "strict", Collected>> {
  const venv = peer("nemo-gym");
  const folder = await mkdtemp(join(tmpdir(), "maskgate-collect-"));
  try {
    const printed = await runProgram(
      {
        name: "gym_path.py",
        command: venv.python,
        args: [`${HERE}python/gym_path.py`],
        env: pythonEnvironment(venvVariables(venv)),
      },
      JSON.stringify({ ...work, folder, sidecar: false }),
    );
    return JSON.parse(printed) as Record<"direct" | "passthrough" | "strict", Collected>;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a collection wrote, without the names that the test gave to its servers, without times and without random ids. */
function comparable(collected: Collected): unknown {
  const text = JSON.stringify(collected, (key, value: unknown) =>
    VARYING.test(key) ? undefined : value,
  );
  return JSON.parse(text.replaceAll("passthrough_", "direct_"));
}

const VARYING = /(?:_at|_ms|_id|_s|_ns|_dir|time|latency|duration|timestamp)$/;
