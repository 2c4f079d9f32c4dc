import { Command } from "commander";
import type { Config } from "../config/config.js";
import { DEFAULTS } from "../config/default-values.js";
import { defaultRoute } from "../config/defaults.js";
import { loadConfig } from "../config/load.js";
import { ProxyError } from "../errors.js";
import { cutAnswers } from "../explain/cut.js";
import { explain, type Explanation } from "../explain/explain.js";
import { isOtherRecording, readGiven } from "../explain/given.js";
import { explanationLines } from "../explain/lines.js";
import { type Line, LineSplitter } from "../plan/lines.js";
import { readText, sizeOf } from "./plan-input.js";

interface ExplainOptions {
  readonly config?: string;
  readonly json: boolean;
}

/** Fills the place of the upstream where the file has none, because explain asks nobody. */
const NO_UPSTREAM = "http://127.0.0.1:9";

const RECORDED = `{"request": {"method", "path", "headers"}, "response": {"status", "reason", "headers", "bodyText"}}`;

const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** The command `explain`: says what an answer is and what each route would make of it. */
export function explainCommand(): Command {
  return new Command("explain")
    .description("say whether an answer is masked and by what, and what each route makes of it")
    .argument(
      "<file>",
      "an answer, what curl -i prints, a recorded exchange, or JSON lines of answers or exchanges; plain, .gz or .zst; - is standard input",
    )
    .option(
      "-c, --config <file>",
      "by the routes of this configuration (default: a strict and a passthrough one)",
    )
    .option("--json", "print one JSON object for each answer, on a line of its own", false)
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate explain --help)")
    .exitOverride()
    .addHelpText(
      "after",
      `
A recorded exchange is
  ${RECORDED}
with headers as [name, value] pairs; the request, reason and headers may be left out.

Examples:
  maskgate explain answer.json                       the verdict, where the signal stands, the exact reply
  maskgate explain answer.json --config maskgate.yaml
  maskgate explain --json - < rollouts.jsonl         a verdict a line, for programs`,
    )
    .action(run);
}

async function run(file: string, { config, json }: ExplainOptions): Promise<void> {
  sizeOf([file]);
  const { routes, verifyPaths } = await rules(config);
  process.stdout.on("error", ignoreClosedPipe);
  let count = 0;
  for await (const { number, bytes } of cutAnswers(linesOf(file))) {
    if (bytes === undefined) {
      throw new ProxyError(
        "CONFIG_INVALID",
        `${file}: line ${number} is longer than ${MAX_ANSWER_BYTES} bytes`,
      );
    }
    const given = readGiven(bytes);
    const explanation = explain(given, routes, verifyPaths);
    if (explanation.verdict.verdict === "scored" && isOtherRecording(given)) {
      throw otherRecording(file, number);
    }
    count += 1;
    await print(json ? jsonOf(number, explanation) : textOf(count, number, explanation));
  }
  if (count === 0) throw new ProxyError("CONFIG_INVALID", `${file}: there is no answer in it`);
}

async function rules(file: string | undefined): Promise<Pick<Config, "routes" | "verifyPaths">> {
  if (file === undefined) {
    const routes = (["strict", "passthrough"] as const).map((mode) => ({
      ...defaultRoute(mode),
      name: mode,
    }));
    return { routes, verifyPaths: DEFAULTS.verifyPaths };
  }
  const { config } = await loadConfig({ file, flags: { upstream: NO_UPSTREAM } });
  const rest = { ...defaultRoute("passthrough"), name: "everything else" };
  return { routes: [...config.routes, rest], verifyPaths: config.verifyPaths };
}

async function* linesOf(file: string): AsyncGenerator<Line> {
  const splitter = new LineSplitter(MAX_ANSWER_BYTES);
  for await (const chunk of readText(file, () => undefined)) yield* splitter.push(chunk);
  yield* splitter.end();
}

function otherRecording(file: string, line: number): ProxyError {
  const says = `line ${line} has no reward and looks like a recorded exchange of a form that explain does not know; give the answer's body alone, what curl -i prints, or ${RECORDED}`;
  return new ProxyError("CONFIG_INVALID", `${file}: ${says}`);
}

function jsonOf(line: number, { verdict, ...rest }: Explanation): string {
  return JSON.stringify({ line, ...verdict, ...rest });
}

function textOf(count: number, line: number, explanation: Explanation): string {
  const heading = count === 1 ? [] : ["", `line ${line}`];
  return [...heading, ...explanationLines(explanation)].join("\n");
}

/** Waits for a slow reader, so that a large file does not gather in memory. */
async function print(text: string): Promise<void> {
  if (process.stdout.write(`${text}\n`)) return;
  await new Promise<void>((resolve) => {
    process.stdout.once("drain", resolve).once("close", resolve);
  });
}

/** Whoever read has read enough. */
function ignoreClosedPipe(): void {
  process.exit(0);
}
