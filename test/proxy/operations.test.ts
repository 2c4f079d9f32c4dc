import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";

const OPERATIONS = new URL("../../docs/OPERATIONS.md", import.meta.url);

/** Eight rollouts of each of 32 tasks: two tasks never came up, and in every fourth task one judge failed. */
const ROWS = Array.from({ length: 256 }, (_value, index) => {
  const task = Math.floor(index / 8);
  const sample = index % 8;
  const lost = task === 5 || task === 21;
  const masked = lost || (task % 4 === 0 && sample === 3);
  return JSON.stringify({
    responses_create_params: { input: `task ${task}` },
    response: { output: [] },
    reward: masked || (task * 7 + sample * 3) % 10 >= 6 ? 0 : 1,
    mask_sample: masked,
    failure_kind: masked ? (lost ? "provider_unavailable" : "judge_failed") : null,
    _ng_task_index: task,
    _ng_rollout_index: sample,
  });
});

describe("OPERATIONS", () => {
  it("shows a plan as maskgate prints it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "maskgate-operations-"));
    closeLater(() => rm(folder, { recursive: true }));
    const file = join(folder, "rollouts.jsonl");
    await writeFile(file, `${ROWS.join("\n")}\n`);
    const { stdout } = await runCli(["plan", file]);
    const printed = stdout.replace(file, "rollouts.jsonl");
    const shown = /^```text\n(256 rollouts.*?)^```$/ms.exec(await readFile(OPERATIONS, "utf8"));
    expect(shown?.[1]).toBe(printed);
  });

  it.each([
    [["--path", "/verifiers/verify"], "1. verifiers: takes it"],
    [["--header", "x-maskgate: strict"], "2. opted-in: takes it"],
    [["--user-agent", "Python/3.11 aiohttp/3.14.5"], "3. gym: takes it"],
  ])("asks check for the route of %j", async (sample, answer) => {
    const snippet = new URL("../contract/snippets/two-clients.yaml", import.meta.url);
    const { stdout } = await runCli(["check", "--config", snippet.pathname, ...sample]);
    expect(stdout).toContain(answer);
  });
});
