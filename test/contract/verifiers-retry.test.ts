import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMaskgate } from "./maskgate.js";
import type { Maskgate } from "./maskgate.js";
import { GRIDSIM, gridsimRows, startResourcesServer } from "./nemo-gym.js";
import type { ResourcesServer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { startChatModel } from "./stand-in.js";
import type { Move, Turn } from "./stand-in.js";
import { evaluate, showEvaluation } from "./verifiers.js";
import type { Evaluation } from "./verifiers.js";

// The cheapest day 1 that there is: it scores 1.0.
const BEST = [-2, 2, -2, 2, 2, -2, 2, -2, 0, -2, 2, 2, -2, 2, -2, 2, 0, 0, -2, -2, -2, -2, 2, -2];

/**
 * The peers are vf-eval with `retry.toml` (verifiers/v1/configs/retries.py) and the small server of our own on
 * nemo-gym's base class. Day 1 is played well; the session of day 2 got the episode of day 5.
 */
describe.skipIf(lacks("verifiers", "nemo-gym"))("a session with another task's episode", () => {
  let strict: { upstream: ResourcesServer; run: Evaluation };
  let unchanged: { upstream: ResourcesServer; run: Evaluation };
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(playFirstDay);
    const [first, second] = await gridsimRows();
    const rows = [{ ...first }, { ...second, episode_day: 5 }];
    const upstreams = await Promise.all([startCountedServer(), startCountedServer()]);
    const gates = await Promise.all([
      startMaskgate(upstreams[0].url, "--masked-as-error"),
      startMaskgate(upstreams[1].url),
    ]);
    const run = (gate: Maskgate) =>
      evaluate({
        rows,
        resourcesUrl: gate.url,
        modelUrl: `${model.url}/v1`,
        snippets: ["retry.toml"],
      });
    const runs = await Promise.all([run(gates[0]), run(gates[1])]);
    strict = { upstream: upstreams[0], run: runs[0] };
    unchanged = { upstream: upstreams[1], run: runs[1] };
    await Promise.all([...gates, ...upstreams].map(({ program }) => program.stop()));
    await model.close();
  });
  afterAll(() => {
    showEvaluation("maskgate serve --masked-as-error, max_retries = 2", strict.run);
    showEvaluation("maskgate serve, max_retries = 2", unchanged.run);
  });

  test("leaves the day that was played its 1.0 in both modes", () => {
    for (const { run } of [strict, unchanged]) {
      expect(run.rollouts[0]).toMatchObject({ has_error: false, rewards: { nemo_gym: 1 } });
    }
  });

  test("fails the rollout with the reason when maskgate is strict", () => {
    const lost = strict.run.rollouts[1];
    expect(lost).toMatchObject({ has_error: true, error: { type: "TaskError" } });
    expect(lost?.error?.message).toContain(
      "Server error '503 Masked: session_lost: the episode of this session is day 5, the task is day 2'",
    );
    expect(lost?.rewards["nemo_gym"] ?? null).toBeNull();
    expect(strict.run.lines[1]).toMatch(/^\[error *\].* TaskError/);
  });

  test("is played three times with max_retries = 2, and no other day is", () => {
    expect(verifies(strict.upstream)).toBe(1 + 3);
  });

  test("is a success scored 0, played once, when maskgate is not strict", () => {
    expect(unchanged.run.rollouts[1]).toMatchObject({
      has_error: false,
      error: null,
      rewards: { nemo_gym: 0 },
      metrics: { mask_sample: 1 },
    });
    expect(unchanged.run.lines[1]).toMatch(/^\[success *\].* reward=0\.00/);
    expect(verifies(unchanged.upstream)).toBe(1 + 1);
  });
});

function playFirstDay({ user, toolAnswers }: Turn): Move {
  return user.endsWith("day 1.") && toolAnswers.length === 0
    ? { call: "set_schedule", arguments: { schedule: BEST } }
    : { say: "Done." };
}

function startCountedServer(): Promise<ResourcesServer> {
  return startResourcesServer({ server: GRIDSIM, globals: "uvicorn_logging_show_200_ok: true" });
}

function verifies(server: ResourcesServer): number {
  return server.program.output().split('"POST /verify HTTP/1.1" 200').length - 1;
}
