import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProgram } from "../contract/programs.js";
import { pythonEnvironment } from "../contract/python.js";
import { venvVariables } from "../contract/venv.js";
import type { Venv } from "../contract/venv.js";
import type { Outcomes, Run } from "./comparison.js";
import { type PutBefore, startFronts } from "./front.js";

/** A suite that pytest runs. */
export interface PytestSuite {
  readonly venv: Venv;
  /** The plugin of `python/` that puts the front before the suite's server. */
  readonly plugin: string;
  readonly cwd: string;
  readonly args: readonly string[];
}

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Runs a suite against its servers behind `putBefore`. Rejects when pytest could not run it. */
export async function runPytest(suite: PytestSuite, putBefore: PutBefore): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-pytest-"));
  const fronts = await startFronts(putBefore);
  try {
    const report = join(folder, "outcomes.json");
    const program = startProgram({
      name: suite.plugin,
      command: suite.venv.python,
      args: ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", suite.plugin, ...suite.args],
      cwd: suite.cwd,
      env: pythonEnvironment({
        ...venvVariables(suite.venv),
        PYTHONPATH: join(HERE, "python"),
        TMPDIR: folder,
        CONFORMANCE_CONTROL: fronts.control,
        CONFORMANCE_OUTCOMES: report,
      }),
    });
    const code = await program.ended;
    // 0: all passed, 1: some did not.
    if (code !== 0 && code !== 1) throw new Error(`pytest ended with ${code}\n${program.output()}`);
    const outcomes = JSON.parse(await readFile(report, "utf8")) as Outcomes;
    return { outcomes, carried: fronts.carried() };
  } finally {
    await fronts.close();
    await rm(folder, { recursive: true, force: true });
  }
}
