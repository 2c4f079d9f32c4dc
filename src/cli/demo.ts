import { Command } from "commander";
import { Agent } from "undici";
import { playDay, readAsGym, readAsVerifiers } from "../demo/play.js";
import type { GridRow } from "../demo/play.js";
import { startGridServer } from "../demo/server.js";
import { demoLines } from "../demo/table.js";
import type { PlayedDay } from "../demo/table.js";
import { createMaskgate } from "../index.js";

const ROWS: readonly GridRow[] = Array.from({ length: 8 }, (_, index) => ({
  day: index + 1,
  reset_timeout: index === 2 || index === 5 ? 0.01 : 2,
}));

/** The command `demo`. */
export function demoCommand(): Command {
  return new Command("demo")
    .description("show in a few seconds what Gym and what a strict client see of masked rollouts")
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .action(() => runDemo((line) => process.stdout.write(`${line}\n`)));
}

/**
 * Plays eight days of GridSim through a passthrough and a strict maskgate, all in this process on free
 * loopback ports, and hands the table to `out` line by line. Resolves when everything is closed again.
 */
export async function runDemo(out: (line: string) => void): Promise<void> {
  const server = await startGridServer();
  const dispatcher = new Agent();
  const opened: { close(): Promise<void> }[] = [];
  try {
    const passthrough = await createMaskgate({ upstream: server.url, port: 0 });
    opened.push(passthrough);
    const strict = await createMaskgate({ upstream: server.url, port: 0, maskedAsError: true });
    opened.push(strict);
    const days = await Promise.all(
      ROWS.map(async (row): Promise<PlayedDay> => {
        const plain = await playDay(passthrough.url, row, dispatcher);
        const guarded = await playDay(strict.url, row, dispatcher);
        return {
          day: row.day,
          gym: readAsGym(plain),
          strict: readAsVerifiers(guarded),
          unguarded: readAsVerifiers(plain),
        };
      }),
    );
    for (const line of demoLines(days)) out(line);
  } finally {
    await dispatcher.close();
    await Promise.all(opened.map((gate) => gate.close()));
    await server.close();
  }
}
