import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "./nemo-gym.js";
import { peer } from "./peers.js";
import type { Capability } from "./peers.js";
import { runProgram } from "./programs.js";
import { pythonEnvironment } from "./python.js";
import { venvVariables } from "./venv.js";

/** A saved rollout, as verifiers' own types read it. */
export interface Rollout {
  readonly name: string;
  readonly row: Row;
  readonly has_error: boolean;
  readonly error: { readonly type: string; readonly message: string } | null;
  /** The score by reward name; `null` where scoring did not come to an end. */
  readonly rewards: Readonly<Record<string, number | null>>;
  readonly metrics: Readonly<Record<string, number | null>>;
  readonly info: Readonly<Record<string, unknown>>;
}

/** What a run of vf-eval printed and saved. */
export interface Evaluation {
  /** The printed line of each rollout, from its `[success]` or `[error]` on, in the order of the rows. */
  readonly lines: readonly string[];
  /** The printed end of the progress line: `2/2 · 10s · reward 0.50 · err 0.50`. */
  readonly summary: string;
  readonly rollouts: readonly Rollout[];
}

/** What is put into the snippets in place of their example values. */
export interface EvaluationOptions {
  readonly rows: readonly Row[];
  /** Where the resources server, or maskgate before it, is to be reached; none where the snippets say no address. */
  readonly resourcesUrl?: string;
  readonly modelUrl: string;
  /** Further snippets. A table that `vf-eval.toml` has already stands in its place; others are added below. */
  readonly snippets?: readonly string[];
  /** The release of verifiers; default: the newest. */
  readonly of?: Capability;
  /** Further words on the command line, such as `-r 8`. */
  readonly args?: readonly string[];
  /** Where SAVED_RUNS names a folder, the run is kept in it under this name. */
  readonly keepAs?: string;
  /** Further variables. */
  readonly env?: NodeJS.ProcessEnv;
  /** Its saved rollouts are not to be readable for verifiers' own types: then there are none here. Default false. */
  readonly unreadable?: boolean;
}

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Runs `vf-eval @ vf-eval.toml` on the snippets that the README shows, with only addresses and data set changed. */
export async function evaluate(options: EvaluationOptions): Promise<Evaluation> {
  const [run] = await evaluateInFolder(options, [START]);
  return run!;
}

/** The same, and then once more with `--resume`, which plays only what is missing or failed. */
export async function evaluateAndResume(
  options: EvaluationOptions,
): Promise<[Evaluation, Evaluation]> {
  const [first, second] = await evaluateInFolder(options, [START, RESUME]);
  return [first!, second!];
}

const START = ["@", "vf-eval.toml", "--run.dir", "run"];
const RESUME = ["@", "outputs/run/configs/resolved/eval.json", "--resume"];

async function evaluateInFolder(
  options: EvaluationOptions,
  commands: readonly (readonly string[])[],
): Promise<Evaluation[]> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-vf-eval-"));
  try {
    await mkdir(join(folder, "data"));
    const lines = options.rows.map((row) => JSON.stringify(row));
    await writeFile(join(folder, "data/example.jsonl"), `${lines.join("\n")}\n`);
    await writeFile(join(folder, "vf-eval.toml"), await fillSnippets(options));
    const runs: Evaluation[] = [];
    for (const command of commands) runs.push(await runOnce(options, folder, command));
    const kept = process.env["SAVED_RUNS"];
    if (kept !== undefined && options.keepAs !== undefined) {
      await cp(join(folder, "outputs/run"), join(kept, options.keepAs), { recursive: true });
    }
    return runs;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOnce(
  { of, args = [], env: more, unreadable = false }: EvaluationOptions,
  cwd: string,
  command: readonly string[],
): Promise<Evaluation> {
  const venv = peer(of ?? "verifiers");
  const env = pythonEnvironment({
    ...venvVariables(venv),
    COLUMNS: "100",
    LINES: "60",
    ...more,
  });
  const printed = await runProgram({
    name: "vf-eval",
    // Up to 0.3 `vf-eval` is the older program, and this one is called `eval`.
    command: join(venv.bin, of === "verifiers-0.3.1" ? "eval" : "vf-eval"),
    args: [...command, ...args],
    cwd,
    env,
  });
  const saved = runProgram({
    name: "read_traces.py",
    command: venv.python,
    args: [`${HERE}python/read_traces.py`, join(cwd, "outputs/run")],
    env,
  }).then((text) => JSON.parse(text) as Rollout[]);
  return { ...readPrinted(printed), rollouts: await (unreadable ? refused(saved) : saved) };
}

async function fillSnippets(options: EvaluationOptions): Promise<string> {
  const names = ["vf-eval.toml", ...(options.snippets ?? [])];
  const texts = await Promise.all(names.map((name) => readFile(`${HERE}snippets/${name}`, "utf8")));
  const values = {
    ...(options.resourcesUrl === undefined
      ? {}
      : { "http://127.0.0.1:9200": options.resourcesUrl }),
    "http://127.0.0.1:8000/v1": options.modelUrl,
  };
  return Object.entries(values).reduce((text, [example, value]) => {
    if (!text.includes(example)) throw new Error(`no ${example} in the snippets`);
    return text.replace(example, value);
  }, mergeTables(texts));
}

/** One file of several: a later table of the same name replaces the earlier one. */
function mergeTables(texts: readonly string[]): string {
  const tables = new Map<string, string>();
  for (const table of texts.flatMap((text) => text.trim().split(/\n(?=\[)/))) {
    tables.set(/^\[.*\]/.exec(table)?.[0] ?? "", table.trim());
  }
  return `${[...tables.values()].join("\n\n")}\n`;
}

function readPrinted(printed: string): { lines: string[]; summary: string } {
  const all = printed.split("\n").map((line) => line.trim());
  const lines = all.filter((line) => /^\[(?:success|error) *\]/.test(line));
  const progress = all.findLast((line) => /\d+\/\d+ · .*reward/.test(line)) ?? "";
  return { lines, summary: progress.replace(/^━+ /, "") };
}

async function refused(saved: Promise<unknown>): Promise<[]> {
  await saved.then(
    () => {
      throw new Error("verifiers' own types can read the saved rollouts");
    },
    (error: unknown) => {
      if (!String(error).includes("ValidationError")) throw error;
    },
  );
  return [];
}

/** What became of a masked rollout, in the words of docs/CLIENTS.md. */
export function fateOf({ has_error, error, rewards, info }: Rollout): string {
  if (!has_error) return `counted, reward ${rewards["nemo_gym"]}`;
  if (error?.message.includes("503 Masked:") === true) return "dropped, the reason in its error";
  const kept = (info["nemo_gym"] as Row | undefined)?.["failure_kind"];
  return `dropped, ${typeof kept === "string" ? "kind and reason in its trace" : "without a reason"}`;
}

/** Prints what a run of vf-eval printed, under a title. */
export function showEvaluation(title: string, { summary, lines }: Evaluation): void {
  console.log([title, summary, ...lines].join("\n  "));
}
