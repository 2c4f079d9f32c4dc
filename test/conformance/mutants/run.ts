import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startProgram } from "../../contract/programs.js";
import type { MUTANTS } from "./mutants.js";

/** A mutant by its name. */
export type Name = keyof typeof MUTANTS;

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** The variables with which every `maskgate serve` that is started is this mutant of `program.mjs`. */
export function programMutant(name: string): NodeJS.ProcessEnv {
  const preload = pathToFileURL(join(ROOT, "test/conformance/mutants/program.mjs"));
  return { NODE_OPTIONS: `--import=${preload.href}`, PROGRAM_MUTANT: name };
}

/** Runs a test file, or those of its tests whose titles begin so, with this mutant in place of the proxy; gives the messages of the tests that failed, and how many passed. */
export async function runWith(
  mutant: Name,
  file: string,
  more: { readonly titles?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<{ readonly failures: readonly string[]; readonly passed: number }> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-mutant-"));
  try {
    const report = join(folder, "report.json");
    const config = "test/conformance/mutants/vitest.config.ts";
    const program = startProgram({
      name: `${file} with "${mutant}"`,
      command: process.execPath,
      args: [
        ...[VITEST, "run", "--config", config, file, "--reporter=json", "--outputFile", report],
        ...(more.titles === undefined ? [] : ["-t", more.titles]),
      ],
      cwd: ROOT,
      env: { ...process.env, ...more.env, PROXY_MUTANT: mutant },
    });
    const code = await program.ended;
    if (code !== 0 && code !== 1) throw new Error(program.output());
    const { testResults, numPassedTests } = JSON.parse(await readFile(report, "utf8")) as Report;
    const failures = testResults
      .flatMap((result) => result.assertionResults)
      .filter(({ status }) => status === "failed")
      .map(({ title, failureMessages }) => `${title}: ${failureMessages[0]?.split("\n")[0]}`);
    // Such as an error that nobody caught.
    if (code === 1 && failures.length === 0) failures.push("outside of its tests");
    return { failures, passed: numPassedTests };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
