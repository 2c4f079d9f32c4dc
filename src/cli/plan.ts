import { Command } from "commander";
import { defaultRoute } from "../config/defaults.js";
import { loadConfig } from "../config/load.js";
import { ProxyError } from "../errors.js";
import { chooseRoute } from "../plan/choose.js";
import { readLine } from "../plan/line.js";
import { type Line, LineSplitter } from "../plan/lines.js";
import type { Damage, Plan, Source } from "../plan/plan.js";
import { planLines } from "../plan/table.js";
import { Tally } from "../plan/tally.js";
import type { Route } from "../route/route.js";
import { readText, sizeOf } from "./plan-input.js";
import { type Meter, startMeter } from "./meter.js";

interface PlanOptions {
  readonly json: boolean;
  readonly config?: string;
  readonly route?: string;
}

/** Fills the place of the upstream where the file has none, because plan asks nobody. */
const NO_UPSTREAM = "http://127.0.0.1:9";

/** The longest line that is read, in bytes; JavaScript has no longer strings than twice that. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

const SHOWN_DAMAGE = 10;

const PERCENTAGES: readonly number[] = [0, 10, 25, 50, 100];

/** The command `plan`: says what strictness would do to rollouts that are already in files. */
export function planCommand(): Command {
  return new Command("plan")
    .description("read rollouts you already have and show what a strict route would do to them")
    .argument(
      "<files...>",
      "NeMo Gym rollout files and their _failures.jsonl, or verifiers' traces.jsonl; plain, .gz or .zst; - is standard input",
    )
    .option(
      "-c, --config <file>",
      "count as a route of this configuration does: salt, only, except, signals",
    )
    .option("--route <name>", "which route, where more than one is strict or observes")
    .option("--json", "print the numbers as JSON", false)
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate plan --help)")
    .exitOverride()
    .addHelpText(
      "after",
      `
Examples:
  maskgate plan rollouts.jsonl rollouts_failures.jsonl       one run of NeMo Gym
  maskgate plan outputs/my-env/traces.jsonl --json           one run of verifiers
  maskgate plan rollouts.jsonl --config maskgate.yaml        as the strict route there
  ssh node cat run/rollouts.jsonl.gz | maskgate plan -`,
    )
    .action(plan);
}

async function plan(files: readonly string[], options: PlanOptions): Promise<void> {
  const route = await routeFor(options);
  const meter = startMeter(sizeOf(files), options.json);
  const reader = new Reader(route, meter);
  try {
    for (const file of files) await reader.read(file);
  } finally {
    meter.end();
  }
  const source = reader.source(files);
  const numbers = reader.tally.plan(percentages(route));
  if (numbers.rollouts === 0) throw nothingFound(source);
  process.stdout.on("error", cannotPrint);
  const text = options.json ? json(numbers, source) : planLines(numbers, source).join("\n");
  process.stdout.write(`${text}\n`);
}

async function routeFor({ config: file, route: name }: PlanOptions): Promise<Route> {
  if (file === undefined) {
    if (name === undefined) return defaultRoute("passthrough");
    throw new ProxyError("CONFIG_INVALID", "--route: goes with --config only");
  }
  const { config } = await loadConfig({ file, flags: { upstream: NO_UPSTREAM } });
  const route = chooseRoute(config.routes, name);
  if (typeof route === "string") throw new ProxyError("CONFIG_INVALID", route);
  return route;
}

function percentages({ ramp }: Route): number[] {
  return [...new Set([...PERCENTAGES, ramp.percentage])].toSorted((a, b) => a - b);
}

/** Reads files into one tally. */
class Reader {
  readonly tally: Tally;
  readonly #route: Route;
  readonly #meter: Meter;
  readonly #damage: Damage[] = [];
  #damaged = 0;
  #withoutAnswer = 0;
  #translated = 0;
  #bytes = 0;

  constructor(route: Route, meter: Meter) {
    this.tally = new Tally(route);
    this.#route = route;
    this.#meter = meter;
  }

  async read(file: string): Promise<void> {
    const lines = new LineSplitter(MAX_LINE_BYTES);
    const onBytes = (bytes: number): void => {
      this.#bytes += bytes;
    };
    try {
      for await (const chunk of readText(file, onBytes)) {
        for (const line of lines.push(chunk)) this.#line(file, line);
        this.#meter.show(this.#bytes, this.tally);
      }
    } catch (error) {
      if (error instanceof ProxyError) throw error;
      const said = error instanceof Error ? error.message : String(error);
      this.#damagedAt(file, undefined, `the rest cannot be unpacked: ${said}`);
    }
    for (const line of lines.end()) this.#line(file, line);
  }

  source(files: readonly string[]): Source {
    return {
      files,
      bytes: this.#bytes,
      withoutAnswer: this.#withoutAnswer,
      translated: this.#translated,
      damaged: this.#damaged,
      damage: this.#damage,
      route: this.#route.name,
      salt: this.#route.ramp.salt,
      percentage: this.#route.mode === "strict" ? this.#route.ramp.percentage : undefined,
      by: this.#route.ramp.by,
    };
  }

  #line(file: string, { number, bytes }: Line): void {
    if (bytes === undefined) {
      this.#damagedAt(file, number, `longer than ${MAX_LINE_BYTES / 1024 ** 2} MiB`);
      return;
    }
    const content = readLine(bytes, this.#route.signals);
    if ("damaged" in content) {
      this.#damagedAt(file, number, content.damaged);
      return;
    }
    for (const rollout of content.rollouts) this.tally.add(rollout);
    this.#withoutAnswer += content.withoutAnswer;
    this.#translated += content.translated;
  }

  #damagedAt(file: string, line: number | undefined, why: string): void {
    this.#damaged++;
    if (this.#damage.length < SHOWN_DAMAGE) this.#damage.push({ file, line, why });
  }
}

/** Numbers that nothing has, such as the mean of no rewards, are `null`. */
function json(numbers: Plan, source: Source): string {
  return JSON.stringify(
    { ...numbers, source },
    (_name, value: unknown) => (value === undefined ? null : value),
    2,
  );
}

function nothingFound({ files, damaged, withoutAnswer, translated, damage }: Source): ProxyError {
  const already = translated === 0 ? "" : ` (${translated} translated by a strict route already)`;
  const [first] = damage;
  const example = first === undefined ? "" : ` (${first.file}:${first.line ?? ""} ${first.why})`;
  return new ProxyError(
    "CONFIG_INVALID",
    `no rollouts in ${files.join(", ")}: ${damaged} damaged ${damaged === 1 ? "line" : "lines"}${example}, ${withoutAnswer} without an answer${already}; plan reads a JSON answer or trace a line`,
  );
}

/** Whoever closed the pipe has seen enough; a full disk is a failure. */
function cannotPrint(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") return;
  process.stderr.write(`maskgate: the output cannot be written: ${error.message}\n`);
  process.exitCode = 1;
}
