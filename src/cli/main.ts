import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { ProxyError } from "../errors.js";
import { LOG_LEVELS } from "../config/config.js";
import { runDemo } from "./demo.js";
import { planCommand } from "./plan.js";
import { serve, type ServeOptions } from "./serve.js";

/** Exit code for bad usage and bad configuration. */
const USAGE = 2;

function version(): string {
  const file = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(file) as { version: string }).version;
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) {
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
  }
  return value;
}

function program(): Command {
  const command = new Command("maskgate")
    .description(
      "A reverse proxy before a NeMo-Gym-compatible resources server: a masked /verify answer becomes an HTTP 503 with the reason, for the clients that ignore the mask.",
    )
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate --help)")
    .exitOverride();

  command
    .command("serve")
    .description("stand in front of a resources server and forward everything to it")
    .argument("<upstream>", "the server: http://HOST:PORT, https://HOST:PORT or unix:/PATH/TO.sock")
    .option("-p, --port <port>", "the port to listen on; 0 lets the system choose", port, 9200)
    .option("--host <host>", "the address to listen on", "127.0.0.1")
    .option(
      "--masked-as-error",
      "turn masked answers into HTTP 503 with the reason (without it nothing is changed)",
      false,
    )
    .addOption(
      new Option("--log-level <level>", "how much to log").choices(LOG_LEVELS).default("info"),
    )
    .addHelpText(
      "after",
      `
Examples:
  maskgate serve http://127.0.0.1:9100                      forward unchanged, listening on 9200
  maskgate serve http://127.0.0.1:9100 --masked-as-error    for verifiers and prime-rl
  then set resources_url = "http://127.0.0.1:9200" in the taskset`,
    )
    .action((upstream: string, options: ServeOptions) => serve(upstream, options));

  command
    .command("demo")
    .description("show in a few seconds what Gym and what a strict client see of masked rollouts")
    .action(() => runDemo((line) => process.stdout.write(`${line}\n`)));

  command.addCommand(planCommand());
  return command;
}

/** Runs the command line; says a failure in one sentence and leaves its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error instanceof ProxyError && /^(CONFIG|LISTEN)_/.test(error.code)) {
    process.stderr.write(`maskgate: ${error.message}\n`);
    return USAGE;
  }
  process.stderr.write(`maskgate: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
}

await main(process.argv);
