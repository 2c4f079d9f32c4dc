import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacks, peer } from "../contract/peers.js";
import { showProgramsOfFailedTests } from "../contract/programs.js";
import { sees } from "../contract/sees.js";
import { startChatModel } from "../contract/stand-in.js";
import { evaluate, fateOf, showEvaluation } from "../contract/verifiers.js";
import type { Evaluation } from "../contract/verifiers.js";
import { venvVariables } from "../contract/venv.js";

const SNIPPETS = fileURLToPath(new URL("../contract/snippets", import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));
const CITY = {
  responses_create_params: {
    input: [{ role: "user", content: "Use the get_weather MCP tool for Paris, then repeat it." }],
    tools: [],
  },
  verifier_metadata: { expected_city: "Paris" },
};
const MASKED = {
  mask_sample: true,
  failure_kind: "judge_failed",
  failure_reason: "the judge is down",
};

/**
 * The peer is vf-eval with the server that it starts by itself: example_mcp_weather of nemo-gym 0.4.0. That release masks
 * nothing, so the second row carries its mask, which the server copies into its answer. First the server is reached as it
 * is, then through the maskgate that the environment of `fronted_gym.py` starts.
 */
describe.skipIf(lacks("verifiers-managed"))("the managed server of verifiers 0.4.0", () => {
  let folder: string;
  const runs: Partial<Record<"passthrough" | "strict", Evaluation>> = {};
  showProgramsOfFailedTests();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "maskgate-managed-"));
    const model = await startChatModel(({ toolAnswers: [told] }) =>
      told === undefined ? { call: "get_weather", arguments: { city: "Paris" } } : { say: told },
    );
    for (const name of ["passthrough", "strict"] as const) {
      runs[name] = await evaluate({
        of: "verifiers-managed",
        rows: [CITY, { ...CITY, ...MASKED }],
        modelUrl: `${model.url}/v1`,
        snippets: ["managed.toml"],
        env: await withMaskgate(join(folder, name), name === "strict"),
      });
    }
    await model.close();
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    for (const [name, run] of Object.entries(runs)) {
      showEvaluation(`the managed server, ${name}`, run);
    }
  });

  test("scores what was measured, its MCP tool called through maskgate", () => {
    for (const run of Object.values(runs)) {
      expect(run.rollouts[0]).toMatchObject({ has_error: false, rewards: { nemo_gym: 1 } });
    }
  });

  test("takes a mask for a score, and drops it behind a strict maskgate", () => {
    expect(runs.passthrough?.rollouts[1]).toMatchObject({ has_error: false });
    expect(runs.strict?.rollouts[1]?.error?.message).toContain(
      "503 Masked: judge_failed: the judge is down",
    );
  });

  test("is what docs/CLIENTS.md says of it", () => {
    sees("verifiers 0.4.0, its managed server", {
      passthrough: fateOf(runs.passthrough!.rollouts[1]!),
      error: fateOf(runs.strict!.rollouts[1]!),
    });
  });
});

/** Variables with which `fronted_gym` is found, and a `maskgate` that is this one; passthrough where `strict` is false. */
async function withMaskgate(folder: string, strict: boolean): Promise<NodeJS.ProcessEnv> {
  const program = join(folder, "maskgate");
  await mkdir(folder);
  const words = strict ? '"$@"' : '"$1" "$2" "$3" "$4"';
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' ${words}\n`);
  await chmod(program, 0o755);
  const { PATH = "" } = venvVariables(peer("verifiers-managed"));
  return { PYTHONPATH: SNIPPETS, PATH: [folder, PATH].join(delimiter) };
}
