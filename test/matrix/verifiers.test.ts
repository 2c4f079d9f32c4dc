import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { snippet, startMaskgate } from "../contract/maskgate.js";
import type { Maskgate } from "../contract/maskgate.js";
import { GRIDSIM, gridsimRows, startResourcesServer } from "../contract/nemo-gym.js";
import { lacks } from "../contract/peers.js";
import { showProgramsOfFailedTests } from "../contract/programs.js";
import { startChatModel } from "../contract/stand-in.js";
import { evaluate, showEvaluation } from "../contract/verifiers.js";
import type { Evaluation } from "../contract/verifiers.js";

const REASON = "503 Masked: provider_unavailable: reset timed out after 0.01 s";

/** The peer is vf-eval of verifiers 0.3.1, on a strict route, on a null route and on none. */
describe.skipIf(lacks("verifiers-0.3.1", "nemo-gym"))("verifiers 0.3.1", () => {
  let strict: Evaluation;
  let onNull: Evaluation;
  let unchanged: Evaluation;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(() => ({ say: "Nothing to do today." }));
    const upstream = await startResourcesServer({ server: GRIDSIM });
    const gates = await Promise.all([
      startMaskgate(upstream.url, "--config", snippet("two-clients.yaml")),
      startMaskgate(upstream.url, "--config", snippet("null.yaml")),
    ]);
    const [first, second] = await gridsimRows();
    const rows = [{ ...first }, { ...second, reset_timeout: 0.01 }];
    const run = (gate: Maskgate, ...snippets: string[]) =>
      evaluate({
        of: "verifiers-0.3.1",
        rows,
        resourcesUrl: gate.url,
        modelUrl: `${model.url}/v1`,
        snippets,
      });
    [strict, onNull, unchanged] = await Promise.all([
      run(gates[0], "prefix.toml"),
      run(gates[1], "prefix.toml"),
      run(gates[0]),
    ]);
    await Promise.all([...gates, upstream].map(({ program }) => program.stop()));
    await model.close();
  });
  afterAll(() => {
    showEvaluation("verifiers 0.3.1 on a strict route", strict);
    showEvaluation("verifiers 0.3.1 on a null route", onNull);
    showEvaluation("verifiers 0.3.1 on no route", unchanged);
  });

  test("keeps the score of what was measured on every route", () => {
    for (const { rollouts } of [strict, onNull, unchanged]) {
      expect(rollouts[0]).toMatchObject({ has_error: false, rewards: { nemo_gym: 0.2 } });
    }
  });

  test("drops a masked rollout with its reason on a strict route", () => {
    expect(strict.rollouts[1]).toMatchObject({ has_error: true, error: { type: "TaskError" } });
    expect(strict.rollouts[1]?.error?.message).toContain(`Server error '${REASON}'`);
  });

  test("drops it on a null route, and keeps kind and reason in its trace", () => {
    expect(onNull.rollouts[1]).toMatchObject({
      has_error: true,
      info: {
        nemo_gym: {
          failure_kind: "provider_unavailable",
          failure_reason: "reset timed out after 0.01 s",
        },
      },
    });
  });

  test("takes it for a zero on no route", () => {
    expect(unchanged.rollouts[1]).toMatchObject({ has_error: false, rewards: { nemo_gym: 0 } });
  });
});
