import { Command } from "commander";
import { pino } from "pino";
import type { Config } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { createLogger, logEvent, type Logger } from "../observe/log.js";
import { type Gate, openGate } from "../proxy/gate.js";
import { reloadOnChange } from "./reload.js";
import { nextSignal, stopGate } from "./stop.js";
import { type ConfigFlags, configInput, withConfigFlags } from "./config-flags.js";

interface ServeFlags extends ConfigFlags {
  readonly port?: string;
}

/** The command `serve`: stands in front of an upstream until it is told to stop. */
export function serveCommand(): Command {
  const command = new Command("serve")
    .description("stand in front of a resources server and forward everything to it")
    .option("-p, --port <port>", "the port to listen on; 0 lets the system choose (default: 9200)")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate serve --help)")
    .exitOverride();
  return withConfigFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  maskgate serve http://127.0.0.1:9100                      forward unchanged, listening on 9200
  maskgate serve http://127.0.0.1:9100 --masked-as-error    for verifiers and prime-rl
  maskgate serve --config maskgate.yaml                     a route for each client
  then set resources_url = "http://127.0.0.1:9200" in the taskset`,
    )
    .action(serve);
}

/** Serves until it is told to stop; the process then ends by itself. */
async function serve(upstream: string | undefined, flags: ServeFlags): Promise<void> {
  const input = configInput(upstream, flags);
  const load = async (): Promise<Config> => (await loadConfig(input)).config;
  const config = await load();
  const destination = pino.destination({ dest: 2, sync: false });
  destination.on("error", ignoreClosedPipe);
  const log = createLogger({
    level: config.logLevel,
    readable: process.stderr.isTTY,
    destination,
  });
  const gate = await openGate(config, log);
  const told = nextSignal();
  const file = input.file ?? input.env?.["MASKGATE_CONFIG"];
  warnOfNaN(config, log);
  const unwatch = reloadOnChange(gate, { file, load }, config, log);
  logListening(gate, config, log);
  const signal = await told;
  unwatch();
  await stopGate(gate, signal, config.drainMs, log);
  destination.flushSync();
}

function logListening(gate: Gate, { upstream, routes }: Config, log: Logger): void {
  const [first] = routes;
  const forAll = first === undefined || Object.keys(first.match).length === 0;
  const mode = forAll ? (first?.mode ?? "passthrough") : "routes";
  const says =
    mode === "routes" ? `${routes.length} routes, the first that matches wins` : MODE_SAYS[mode];
  const fields = {
    url: gate.url,
    urls: gate.urls,
    upstream: upstream.url,
    mode,
    routes: routes.map(({ name }) => name),
  };
  logEvent(
    log,
    "info",
    "listening",
    fields,
    `maskgate listens on ${gate.urls.join(" and ")} in front of ${upstream.url} (${mode}: ${says})`,
  );
}

const MODE_SAYS = {
  strict: "a masked answer becomes HTTP 503 with the reason",
  observe: "masked answers are counted and logged, nothing is changed",
  passthrough: "nothing is changed",
} as const;

/** `NaN` is no JSON for strict readers, and it poisons the means of clients that do read it. */
function warnOfNaN({ routes }: Config, log: Logger): void {
  for (const { name, translation } of routes) {
    if (translation !== "nan") continue;
    const says = `route ${name} sends NaN as the reward: verifiers and prime-rl would average it into every mean`;
    logEvent(log, "warn", "translation_nan", { route: name }, says);
  }
}

/** Whoever read the log has gone; serving goes on without it. */
function ignoreClosedPipe(): void {}
