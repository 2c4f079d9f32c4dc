import { Command } from "commander";
import type { Config } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import type { ConfigInput } from "../config/resolve.js";
import { ProxyError } from "../errors.js";
import type { Logger } from "../observe/log.js";
import { openGate } from "../proxy/gate.js";
import { withAuthorities } from "../proxy/pem.js";
import { childUpstream } from "./child-upstream.js";
import {
  type ConfigFlags,
  configInput,
  UPSTREAM_FORMS,
  withConfigOptions,
} from "./config-flags.js";
import { front } from "./front.js";
import { answers } from "./probe.js";
import { openLog } from "./serving.js";

interface RunFlags extends ConfigFlags {
  readonly port?: string;
  readonly upstream?: string;
}

/** The command `run`: starts a server and stands in front of it for as long as it lives. */
export function runCommand(): Command {
  const command = new Command("run")
    .description("start a resources server, unmodified, and stand in front of it")
    .usage("[options] -- <command...>")
    .argument("<command...>", "what starts the server; its --port tells where it will listen")
    .option("-p, --port <port>", "the port to listen on; 0 lets the system choose (default: 9200)")
    .option("--upstream <url>", `where the server will listen: ${UPSTREAM_FORMS}`)
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate run --help)")
    .passThroughOptions()
    .exitOverride();
  return withConfigOptions(command)
    .addHelpText(
      "after",
      `
Signals reach the server after what is in flight has finished. maskgate ends with the server's exit code, and the server with maskgate.

Example:
  maskgate run --port 9200 --masked-as-error -- python -m my_server --port 9100`,
    )
    .action(run);
}

/** Runs the server to its end; the exit code is then its own. */
async function run(command: readonly string[], flags: RunFlags): Promise<void> {
  const input = runInput(command, flags);
  const { config } = await loadConfig(input);
  const upstream = await withAuthorities(config);
  if (await answers(upstream)) {
    const says = `something already answers on ${upstream.url}, so the server could not listen there`;
    throw new ProxyError("CONFIG_INVALID", says);
  }
  const processLog = openLog(config);
  try {
    // What there is to say of the listeners is said when they stay open.
    await tryToListen(config, processLog.log.child({}, { level: "silent" }));
    process.exitCode = await front(command, { input, config, upstream, processLog });
  } finally {
    processLog.end();
  }
}

function runInput(command: readonly string[], { upstream, ...flags }: RunFlags): ConfigInput {
  const input = configInput(upstream ?? childUpstream(command), flags);
  const named = input.flags?.upstream ?? input.file ?? input.env?.["MASKGATE_CONFIG"];
  if (named !== undefined || input.env?.["MASKGATE_UPSTREAM"] !== undefined) return input;
  const says =
    "cannot tell where the server will listen: its command has no --port N, so give maskgate --upstream http://HOST:PORT";
  throw new ProxyError("CONFIG_INVALID", says);
}

/** Finds out that a port is taken before the server has spent minutes on its start. */
async function tryToListen(config: Config, log: Logger): Promise<void> {
  const gate = await openGate(config, log);
  await gate.close();
}
