import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMaskgate } from "./maskgate.js";
import type { Maskgate } from "./maskgate.js";
import {
  askWithGym,
  GRIDSIM,
  gridsimRows,
  modelResponse,
  startResourcesServer,
} from "./nemo-gym.js";
import type { GymAnswer, GymReading, GymRequest, Row } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { startChatModel } from "./stand-in.js";
import { evaluate, showEvaluation } from "./verifiers.js";
import type { Evaluation } from "./verifiers.js";

const LOST_DAYS = [3, 6];
const REASON = "503 Masked: provider_unavailable: reset timed out after 0.01 s";

interface GymRun {
  readonly rewards: readonly { readonly reward: number; readonly mask_sample: boolean }[];
  readonly reading: GymReading | undefined;
}

interface LossyRuns {
  readonly strict: Evaluation;
  readonly unchanged: Evaluation;
  readonly gym: GymRun;
}

/**
 * The peers are vf-eval, nemo-gym's ServerClient with its select_measured, and the small server of our own on
 * nemo-gym's base class. Eight days are played with an idle schedule, whose score is 0.20 on every day: once with
 * a simulator that comes up each day, once with two days whose reset may take 0.01 s and times out.
 */
describe.skipIf(lacks("verifiers", "nemo-gym"))("eight days of GridSim, played idle", () => {
  let whole: { verifiers: Evaluation; gym: GymRun };
  let lossy: LossyRuns;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(() => ({ say: "Nothing to do today." }));
    const upstream = await startResourcesServer({ server: GRIDSIM });
    const gates = await Promise.all([
      startMaskgate(upstream.url, "--masked-as-error"),
      startMaskgate(upstream.url),
    ]);
    const days = await gridsimRows();
    const lossyDays = days.map((row) =>
      LOST_DAYS.includes(Number(row["day"])) ? { ...row, reset_timeout: 0.01 } : row,
    );
    const run = (gate: Maskgate, rows: readonly Row[]) =>
      evaluate({ rows, resourcesUrl: gate.url, modelUrl: `${model.url}/v1` });
    const [strict, unchanged] = await Promise.all([
      run(gates[0], lossyDays),
      run(gates[1], lossyDays),
    ]);
    const [verifiers, gym, lossyGym] = await Promise.all([
      run(gates[0], days),
      playWithGym(gates[1], days),
      playWithGym(gates[1], lossyDays),
    ]);
    whole = { verifiers, gym };
    lossy = { strict, unchanged, gym: lossyGym };
    await Promise.all([...gates, upstream].map(({ program }) => program.stop()));
    await model.close();
  });
  afterAll(() => {
    showEvaluation(
      "a simulator that always comes up, maskgate serve --masked-as-error",
      whole.verifiers,
    );
    showEvaluation("days 3 and 6 lost, maskgate serve", lossy.unchanged);
    showEvaluation("days 3 and 6 lost, maskgate serve --masked-as-error", lossy.strict);
  });

  test("score 0.20 each, through a strict maskgate and through Gym's own client", () => {
    expect(whole.verifiers.rollouts.map(({ rewards }) => rewards["nemo_gym"])).toEqual(
      Array(8).fill(0.2),
    );
    expect(whole.verifiers.summary).toMatch(/^8\/8 .* reward 0\.20 · err 0\.00$/);
    expect(whole.gym.rewards).toEqual(
      whole.gym.rewards.map(() => ({ reward: 0.2, mask_sample: false })),
    );
    expect(whole.gym.reading).toEqual({ measured: 8, masked: 0, mean: expect.closeTo(0.2) });
  });

  test("lose the two days whose reset timed out as errors when maskgate is strict", () => {
    const lost = lossy.strict.rollouts.filter(({ has_error }) => has_error);
    expect(lost.map(({ row }) => row["day"])).toEqual(LOST_DAYS);
    for (const { error, rewards } of lost) {
      expect(error?.type).toBe("TaskError");
      expect(error?.message).toContain(`Server error '${REASON}'`);
      expect(rewards["nemo_gym"] ?? null).toBeNull();
    }
    expect(lossy.strict.lines.filter((line) => /^\[error *\].* TaskError/.test(line))).toHaveLength(
      2,
    );
    expect(lossy.strict.summary).toMatch(/^8\/8 .* reward 0\.20 \(0\.15\) · err 0\.25$/);
  });

  test("take the two days into the mean as successes scored 0 when maskgate is not strict", () => {
    expect(lossy.unchanged.rollouts.filter(({ has_error }) => has_error)).toEqual([]);
    expect(
      lossy.unchanged.lines.filter((line) => /^\[success *\].* reward=0\.00/.test(line)),
    ).toHaveLength(2);
    expect(lossy.unchanged.summary).toMatch(/^8\/8 .* reward 0\.15 · err 0\.00$/);
    expect(lossy.gym.reading).toEqual({ measured: 6, masked: 2, mean: expect.closeTo(0.2) });
  });

  test("make the headline table", () => {
    const table = headlineTable(lossy);
    console.log(table);
    expect(table).toBe(HEADLINE);
  });
});

const HEADLINE = [
  "day   NeMo Gym's client   vf-eval, maskgate serve   vf-eval, maskgate serve --masked-as-error",
  "1     0.20                [success] 0.20            [success] 0.20",
  "2     0.20                [success] 0.20            [success] 0.20",
  `3     masked              [success] 0.00            [error] ${REASON}`,
  "4     0.20                [success] 0.20            [success] 0.20",
  "5     0.20                [success] 0.20            [success] 0.20",
  `6     masked              [success] 0.00            [error] ${REASON}`,
  "7     0.20                [success] 0.20            [success] 0.20",
  "8     0.20                [success] 0.20            [success] 0.20",
  "mean  0.20 of 6           0.15 of 8                 0.20 of 6",
].join("\n");

function headlineTable(runs: LossyRuns): string {
  const rows = runs.gym.rewards.map(({ reward, mask_sample }, at) => [
    String(at + 1),
    mask_sample ? "masked" : reward.toFixed(2),
    shown(runs.unchanged.rollouts[at]),
    shown(runs.strict.rollouts[at]),
  ]);
  const { mean, measured } = runs.gym.reading ?? { mean: null, measured: 0 };
  return [
    [
      "day",
      "NeMo Gym's client",
      "vf-eval, maskgate serve",
      "vf-eval, maskgate serve --masked-as-error",
    ],
    ...rows,
    ["mean", `${mean?.toFixed(2)} of ${measured}`, meanOf(runs.unchanged), meanOf(runs.strict)],
  ]
    .map(([day = "", gym = "", unchanged = "", strict = ""]) =>
      [day.padEnd(6), gym.padEnd(20), unchanged.padEnd(26), strict].join(""),
    )
    .join("\n");
}

function shown(rollout: Evaluation["rollouts"][number] | undefined): string {
  if (rollout?.has_error === true) {
    return `[error] ${/'(503 [^']*)'/.exec(rollout.error?.message ?? "")?.[1]}`;
  }
  return `[success] ${rollout?.rewards["nemo_gym"]?.toFixed(2)}`;
}

function meanOf({ rollouts }: Evaluation): string {
  const scores = rollouts.flatMap(({ has_error, rewards }) =>
    has_error ? [] : [rewards["nemo_gym"] ?? Number.NaN],
  );
  const sum = scores.reduce((total, score) => total + score, 0);
  return `${(sum / scores.length).toFixed(2)} of ${scores.length}`;
}

async function playWithGym(gate: Maskgate, rows: readonly Row[]): Promise<GymRun> {
  const requests = rows.flatMap((row): GymRequest[] => {
    const to = { server: "maskgate", session: `day ${Number(row["day"])}` };
    return [
      { ...to, path: "/seed_session", json: row },
      { ...to, path: "/verify", json: { ...row, response: modelResponse("Nothing to do today.") } },
    ];
  });
  const { answers, gym } = await askWithGym({ maskgate: gate.url }, requests);
  const verified = answers.filter((_, at) => requests[at]?.path === "/verify");
  return { rewards: verified.map(readReward), reading: gym["maskgate"] };
}

function readReward({ body }: GymAnswer) {
  const { reward, mask_sample } = JSON.parse(body) as GymRun["rewards"][number];
  return { reward, mask_sample };
}
