import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { loadConfig } from "../config/load.js";
import { type ConfigFlags, configInput, withConfigFlags } from "./config-flags.js";
import { openLog, startServing } from "./serving.js";
import { nextSignal } from "./stop.js";

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
  then set resources_url = "http://127.0.0.1:9200" in the taskset

Every option of the file, once: ${inPackage("maskgate.example.yaml")}
For editors, its JSON schema:   ${inPackage("maskgate.schema.json")}`,
    )
    .action(serve);
}

function inPackage(name: string): string {
  return fileURLToPath(new URL(`../../config/${name}`, import.meta.url));
}

/** Serves until it is told to stop; the process then ends by itself. */
async function serve(upstream: string | undefined, flags: ServeFlags): Promise<void> {
  const input = configInput(upstream, flags);
  const { config } = await loadConfig(input);
  const processLog = openLog(config);
  const told = nextSignal();
  try {
    const serving = await startServing(input, config, processLog);
    await serving.stop(await told);
  } finally {
    processLog.end();
  }
}
