import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";

const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));

/** Four rollouts of each of ten tasks; of the first two tasks one and three are masked. */
const ROWS = Array.from({ length: 40 }, (_value, index) => {
  const task = Math.floor(index / 4);
  const sample = index % 4;
  const masked = (task === 0 && sample === 0) || (task === 1 && sample < 3);
  return JSON.stringify({
    responses_create_params: { input: `task ${task}` },
    response: { output: [] },
    reward: masked ? 0 : 0.5,
    mask_sample: masked,
    failure_kind: masked ? (task === 0 ? "judge_failed" : "sandbox_lost") : null,
    _ng_task_index: task,
    _ng_rollout_index: sample,
  });
});

const ROLLOUTS = `${ROWS.join("\n")}\n`;

const CONFIG = `routes:
  - name: verifiers
    match: {pathPrefix: /verifiers}
    mode: strict
    ramp: {percentage: 12.5, salt: run-42}
    except: [judge_*]
  - name: gym
    mode: passthrough
`;

async function folder(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "maskgate-plan-"));
  closeLater(() => rm(path, { recursive: true }));
  await Promise.all(
    Object.entries(files).map(([name, content]) => writeFile(join(path, name), content)),
  );
  return path;
}

async function planned(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCli(["plan", "--json", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe("maskgate plan", () => {
  it("shows what strictness would do at each step, in 80 columns", async () => {
    const path = await folder({ "rollouts.jsonl": ROLLOUTS });
    const { code, stdout } = await runCli(["plan", join(path, "rollouts.jsonl")]);
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    const cells = lines.map((line) => line.trim().split(/ {2,}/));
    expect(lines[0]).toBe(`40 rollouts of 10 tasks in ${join(path, "rollouts.jsonl")}`);
    expect(cells).toContainEqual(["masked", "4", "10.0 %", "in 2 tasks"]);
    expect(cells).toContainEqual(["sandbox_lost", "3", "75.0 %", "1"]);
    expect(cells).toContainEqual(["judge_failed", "1", "25.0 %", "1"]);
    expect(cells).toContainEqual(["off", "0", "0", "0", "0.4500", "0.4500"]);
    expect(cells).toContainEqual(["100 %", "4", "2", "1", "0.5000", "0.5000"]);
    expect(Math.max(...lines.slice(1).map((line) => line.length))).toBeLessThan(80);
  });

  it("reads rollouts, failures and traces together and names what is damaged", async () => {
    const masked = { mask_sample: true, failure_kind: "judge_failed" };
    const path = await folder({
      "rollouts.jsonl": `${ROLLOUTS}{"reward": 1, "respo`,
      "rollouts_failures.jsonl": `${ROWS[0]}\n\n{"_ng_failure_class":"agent_run_error"}\nlog text\n`,
      "traces.jsonl": `${JSON.stringify({
        task: { key: "k" },
        traces: [{ task: { key: "k" }, rewards: {}, info: { nemo_gym: masked }, ok: true }],
      })}\n`,
    });
    const file = (name: string): string => join(path, name);
    const plan = await planned(
      file("rollouts.jsonl"),
      file("rollouts_failures.jsonl"),
      file("traces.jsonl"),
    );
    expect(plan).toMatchObject({
      rollouts: 42,
      groups: 11,
      masked: 6,
      withoutReward: 1,
      source: {
        withoutAnswer: 1,
        damaged: 2,
        damage: [
          { file: file("rollouts.jsonl"), line: 41, why: "not JSON, or cut short" },
          { file: file("rollouts_failures.jsonl"), line: 4, why: "not JSON, or cut short" },
        ],
      },
    });
  });

  it("shows the first ten damaged lines and counts all of them", async () => {
    const path = await folder({ "a.jsonl": `${"x\n".repeat(25)}${ROLLOUTS}` });
    const { source } = await planned(join(path, "a.jsonl"));
    expect(source).toMatchObject({ damaged: 25 });
    expect((source as { damage: unknown[] }).damage).toHaveLength(10);
  });

  it("reads gzip whatever the name is, several members too, from a file and from standard input", async () => {
    const half = ROLLOUTS.indexOf("\n", ROLLOUTS.length / 2) - 7;
    const packed = Buffer.concat([
      zlib.gzipSync(ROLLOUTS.slice(0, half)),
      zlib.gzipSync(ROLLOUTS.slice(half)),
    ]);
    const path = await folder({ rollouts: packed });
    expect(await planned(join(path, "rollouts"))).toMatchObject({ rollouts: 40, masked: 4 });

    const child = execFile(process.execPath, [BIN, "plan", "--json", "-"]);
    let stdout = "";
    child.stdout?.on("data", (text: string) => {
      stdout += text;
    });
    child.stdin?.end(packed);
    await once(child, "close");
    expect(JSON.parse(stdout)).toMatchObject({ rollouts: 40, source: { files: ["-"] } });
  });

  it("says that a packed file is cut short and counts what came before", async () => {
    const long = Array.from({ length: 3000 }, (_value, index) => `${ROWS[index % 40]}\n`).join("");
    const noise = Buffer.from(long.replaceAll("[]", () => `["${Math.random()}"]`));
    const packed = zlib.gzipSync(noise);
    const path = await folder({ "a.jsonl.gz": packed.subarray(0, packed.length / 2) });
    const { rollouts, source } = await planned(join(path, "a.jsonl.gz"));
    expect(rollouts).toBeGreaterThan(100);
    expect((source as { damage: { line: unknown; why: string }[] }).damage[0]).toMatchObject({
      line: null,
      why: expect.stringContaining("cannot be unpacked") as string,
    });
  });

  it("reads zstd frame after frame where Node can, and says what to do where it cannot", async () => {
    const frame = Buffer.from(ZSTD_FRAME, "base64");
    const path = await folder({ "a.zst": Buffer.concat([frame, frame]) });
    const file = join(path, "a.zst");
    if ("createZstdDecompress" in zlib) {
      expect(await planned(file)).toMatchObject({ rollouts: 4, masked: 2 });
    } else {
      const { code, stderr } = await runCli(["plan", file]);
      expect(code).toBe(2);
      expect(stderr).toBe(
        `maskgate: ${file}: Node ${process.versions.node} cannot read zstd; use Node 22.15 or later, or: zstd -dc ${file} | maskgate plan -\n`,
      );
    }
  });

  it("counts as the strict route of a configuration does, at its own percentage too", async () => {
    const path = await folder({ "a.jsonl": ROLLOUTS, "maskgate.yaml": CONFIG });
    const config = ["--config", join(path, "maskgate.yaml")];
    const plan = await planned(join(path, "a.jsonl"), ...config);
    expect(plan).toMatchObject({
      masked: 4,
      leftAlone: 1,
      maskedBy: [
        { kind: "sandbox_lost", translated: true },
        { kind: "judge_failed", translated: false },
      ],
      source: { route: "verifiers", salt: "run-42", percentage: 12.5 },
    });
    const steps = plan["steps"] as { percentage: number; translated: number }[];
    expect(steps.map(({ percentage }) => percentage)).toEqual([0, 10, 12.5, 25, 50, 100]);
    expect(steps.at(-1)).toMatchObject({ translated: 3 });
    expect(await planned(join(path, "a.jsonl"), ...config, "--route", "gym")).toMatchObject({
      leftAlone: 0,
      source: { route: "gym", percentage: null },
    });
  });

  it("ends with 2 for a configuration or a route that is not there", async () => {
    const path = await folder({ "a.jsonl": ROLLOUTS, "maskgate.yaml": CONFIG });
    const config = ["--config", join(path, "maskgate.yaml")];
    const cases = [
      [["--route", "gym"], /^maskgate: --route: goes with --config only\n$/],
      [[...config, "--route", "x"], /no route "x", the configuration has: verifiers, gym\n$/],
      [["--config", join(path, "nope.yaml")], /nope\.yaml/],
    ] as const;
    for (const [args, said] of cases) {
      const { code, stdout, stderr } = await runCli(["plan", join(path, "a.jsonl"), ...args]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(said);
    }
  });

  it("ends with 2 and one sentence for files that are missing, directories or without rollouts", async () => {
    const path = await folder({ "notes.txt": "hello\n" });
    const missing = await runCli(["plan", join(path, "nope.jsonl"), path]);
    expect(missing).toEqual({
      code: 2,
      stdout: "",
      stderr: `maskgate: ${join(path, "nope.jsonl")}: no such file; ${path}: is a directory; name the .jsonl files in it\n`,
    });
    const empty = await runCli(["plan", join(path, "notes.txt")]);
    expect(empty.code).toBe(2);
    expect(empty.stderr).toContain(`no rollouts in ${join(path, "notes.txt")}: 1 damaged line`);
    const errors = [{ type: "TaskError", message: "Server error '503 Masked: gone'" }];
    const line = JSON.stringify({ traces: [{ task: {}, ok: false, errors }] });
    const strict = await runCli(["plan", join(await folder({ "t.jsonl": line }), "t.jsonl")]);
    expect(strict.stderr).toContain("1 without an answer (1 translated by a strict route already)");
    expect((await runCli(["plan"])).code).toBe(2);
    expect((await runCli(["plan", "--nope", path])).code).toBe(2);
  });
});

/** Two rows, one of them masked, packed by zstd 1.5. */
const ZSTD_FRAME =
  "KLUv/QRYdQIA0gQQFaA5B/6wCQmx3f3z0iaoDgMUHmqQrXteCEBrvs9qZTLMzouuT4PqqINZ3ITkorrgUnXGk+hrjj1yCc6EPkE1CwMAMMEk6IcsWzgDTRxeSQ==";
