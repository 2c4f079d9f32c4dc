import { Command } from "commander";
import { pino } from "pino";
import type { Config } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { createLogger, logEvent, type Logger } from "../observe/log.js";
import { type Gate, openGate } from "../proxy/gate.js";
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
  const { config } = await loadConfig(configInput(upstream, flags));
  const destination = pino.destination({ dest: 2, sync: false });
  destination.on("error", ignoreClosedPipe);
  const log = createLogger({
    level: config.logLevel,
    readable: process.stderr.isTTY,
    destination,
  });
  const gate = await openGate(config, log);
  logListening(gate, config, log);
  await stopped(gate, config.drainMs, log);
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

/** Resolves when the last request has finished after a signal, or at once after a second one or past the limit. */
async function stopped(gate: Gate, drainMs: number, log: Logger): Promise<void> {
  const signal = await nextSignal();
  const inFlight = gate.inFlight();
  logEvent(
    log,
    "info",
    "draining",
    { signal, inFlight },
    `${signal}: ${inFlight} in flight may finish; once more ends them`,
  );
  const limit = new Promise<string>((resolve) => {
    setTimeout(resolve, drainMs, `after ${drainMs / 1000} s`).unref();
  });
  const cut = await Promise.race([gate.drain(), nextSignal(), limit]);
  if (cut !== undefined) {
    const left = gate.inFlight();
    logEvent(
      log,
      "warn",
      "stopped",
      { inFlight: left },
      `stopped ${cut}; ${left} in flight were broken off`,
    );
    await gate.close();
    return;
  }
  logEvent(log, "info", "stopped", { inFlight: 0 }, "stopped; nothing was cut off");
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const signals = ["SIGTERM", "SIGINT"] as const;
    const stop = (signal: NodeJS.Signals): void => {
      for (const name of signals) process.off(name, stop);
      resolve(signal);
    };
    for (const name of signals) process.on(name, stop);
  });
}

/** Whoever read the log has gone; serving goes on without it. */
function ignoreClosedPipe(): void {}
