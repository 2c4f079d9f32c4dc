import { Command, CommanderError } from "commander";
import { ProxyError } from "../errors.js";
import { printableLines } from "../printable.js";
import { version } from "../version.js";

/** Exit code for bad usage and bad configuration. */
const USAGE = 2;

/** Each is loaded only when it is asked for, or when all are to be listed: `serve` then listens sooner. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["serve", async () => (await import("./serve.js")).serveCommand()],
  ["run", async () => (await import("./run.js")).runCommand()],
  ["check", async () => (await import("./check.js")).checkCommand()],
  ["top", async () => (await import("./top.js")).topCommand()],
  ["explain", async () => (await import("./explain.js")).explainCommand()],
  ["plan", async () => (await import("./plan.js")).planCommand()],
  ["demo", async () => (await import("./demo.js")).demoCommand()],
]);

async function program(name: string | undefined): Promise<Command> {
  const command = new Command("maskgate")
    .description(
      "A reverse proxy before a NeMo-Gym-compatible resources server: a masked /verify answer becomes an HTTP 503 with the reason, for the clients that ignore the mask.",
    )
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate --help)")
    .enablePositionalOptions()
    .exitOverride();
  const asked = COMMANDS.get(name ?? "");
  const loads = asked === undefined ? [...COMMANDS.values()] : [asked];
  for (const load of loads) command.addCommand(await load());
  return command;
}

/** Runs the command line; says a failure in one sentence and leaves its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await (await program(argv[2])).parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error instanceof ProxyError && /^(CONFIG|LISTEN)_/.test(error.code)) {
    say(error.message);
    return USAGE;
  }
  say(error instanceof Error ? error.message : String(error));
  return 1;
}

function say(text: string): void {
  process.stderr.write(`maskgate: ${printableLines(text)}\n`);
}

await main(process.argv);
