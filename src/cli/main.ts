import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { ProxyError } from "../errors.js";
import { checkCommand } from "./check.js";
import { runDemo } from "./demo.js";
import { planCommand } from "./plan.js";
import { serveCommand } from "./serve.js";

/** Exit code for bad usage and bad configuration. */
const USAGE = 2;

function version(): string {
  const file = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(file) as { version: string }).version;
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

  command.addCommand(serveCommand());
  command.addCommand(checkCommand());

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
