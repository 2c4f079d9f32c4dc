import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { snippet, startMaskgate } from "./maskgate.js";
import type { Maskgate } from "./maskgate.js";
import { withoutClock } from "./clock.js";
import {
  askWithGym,
  GRIDSIM,
  gridsimRows,
  modelResponse,
  startResourcesServer,
} from "./nemo-gym.js";
import type { GymAnswer, GymReading, GymRequest } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { sees } from "./sees.js";
import { startChatModel } from "./stand-in.js";
import { evaluate, fateOf, showEvaluation } from "./verifiers.js";
import type { Evaluation } from "./verifiers.js";

const REASON = "503 Masked: provider_unavailable: reset timed out after 0.01 s";

/**
 * The peers are nemo-gym's ServerClient, two runs of vf-eval that differ in how they are told apart (path prefix,
 * header), and one real resources server behind one maskgate with `two-clients.yaml`; all three ask at the same time.
 * A third vf-eval reaches the same server through a maskgate with `null.yaml`, whose masked answer is a 200 with
 * `reward: null`.
 */
describe.skipIf(lacks("verifiers", "nemo-gym"))("one maskgate with a route for each client", () => {
  let gate: Maskgate;
  let byPrefix: Evaluation;
  let byHeader: Evaluation;
  let onNull: Evaluation;
  let gym: { answers: GymAnswer[]; gym: Record<string, GymReading> };
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(() => ({ say: "Nothing to do today." }));
    const upstream = await startResourcesServer({ server: GRIDSIM });
    gate = await startMaskgate(upstream.url, "--config", snippet("two-clients.yaml"));
    const [first, second] = await gridsimRows();
    const rows = [{ ...first }, { ...second, reset_timeout: 0.01 }];
    const nullGate = await startMaskgate(upstream.url, "--config", snippet("null.yaml"));
    const run = (through: Maskgate, name: string) =>
      evaluate({ rows, resourcesUrl: through.url, modelUrl: `${model.url}/v1`, snippets: [name] });
    [byPrefix, byHeader, onNull, gym] = await Promise.all([
      run(gate, "prefix.toml"),
      run(gate, "header.toml"),
      run(nullGate, "prefix.toml"),
      askWithGym({ direct: upstream.url, maskgate: gate.url }, gymRequests(rows)),
    ]);
    await Promise.all([gate, nullGate, upstream].map(({ program }) => program.stop()));
    await model.close();
  });
  afterAll(() => {
    showEvaluation("vf-eval on the prefix route", byPrefix);
    showEvaluation("vf-eval on the header route", byHeader);
    showEvaluation("vf-eval on a null route", onNull);
  });

  test("gives Gym's own client the bytes that it gets directly", () => {
    const verifies = [0, 1].map((row) => 2 + 2 * row);
    for (const at of verifies) {
      const [direct, through] = [gym.answers[at], gym.answers[at + 1]];
      expect(direct?.status).toBe(200);
      expect(withoutClock(through)).toEqual(withoutClock(direct));
    }
    expect(gym.gym["maskgate"]).toEqual({ measured: 1, masked: 1, mean: 0.2 });
    expect(gym.gym["direct"]).toEqual(gym.gym["maskgate"]);
  });

  test.each(["prefix", "header"])("drops the masked rollout of vf-eval by %s alone", (by) => {
    const { rollouts, summary } = by === "prefix" ? byPrefix : byHeader;
    expect(rollouts[0]).toMatchObject({ has_error: false, rewards: { nemo_gym: 0.2 } });
    expect(rollouts[1]).toMatchObject({ has_error: true, error: { type: "TaskError" } });
    expect(rollouts[1]?.error?.message).toContain(`Server error '${REASON}'`);
    expect(summary).toMatch(/^2\/2 .* reward 0\.20 \(0\.10\) · err 0\.50$/);
  });

  test("drops a rollout under null too, and keeps kind and reason in its trace", () => {
    const lost = onNull.rollouts[1];
    expect(onNull.rollouts[0]).toMatchObject({ has_error: false, rewards: { nemo_gym: 0.2 } });
    expect(lost).toMatchObject({ has_error: true, error: { type: "TaskError" } });
    expect(lost?.error?.message).toContain("TypeError: float()");
    expect(lost?.rewards["nemo_gym"] ?? null).toBeNull();
    expect(lost?.info["nemo_gym"]).toMatchObject({
      mask_sample: true,
      failure_kind: "provider_unavailable",
      failure_reason: "reset timed out after 0.01 s",
    });
    sees("verifiers 0.4.0", { null: fateOf(lost!) });
    expect(onNull.summary).toMatch(/^2\/2 .* reward 0\.20 \(0\.10\) · err 0\.50$/);
  });

  test("logs one translated answer for each strict route", () => {
    const routes = gate.logged("translated").map(({ route }) => route);
    expect(routes).toHaveLength(2);
    expect(new Set(routes)).toEqual(new Set(["verifiers", "opted-in"]));
  });
});

function gymRequests(rows: readonly Readonly<Record<string, unknown>>[]): GymRequest[] {
  const seeds = rows.map((json, at) => ({
    server: "direct",
    path: "/seed_session",
    session: `${at}`,
    json,
  }));
  const verifies = rows.flatMap((row, at) =>
    ["direct", "maskgate"].map((server) => ({
      server,
      path: "/verify",
      session: `${at}`,
      json: { ...row, response: modelResponse("Ünchanged ☀") },
    })),
  );
  return [...seeds, ...verifies];
}
