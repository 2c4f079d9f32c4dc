import type { DayOutcome } from "./play.js";

/** One day, played through the two routes. */
export interface PlayedDay {
  readonly day: number;
  /** The passthrough answer as Gym reads it. */
  readonly gym: DayOutcome;
  /** The strict answer as a client reads it that knows only errors and rewards. */
  readonly strict: DayOutcome;
  /** The passthrough answer as that same client reads it. */
  readonly unguarded: DayOutcome;
}

/** The demonstration's lines: what happened, the days side by side, both means, and what to do next. */
export function demoLines(days: readonly PlayedDay[]): string[] {
  const lost = days.filter((played) => played.gym.score === undefined).length;
  const rows = [
    ["day", "what Gym sees", "what a strict client sees (--masked-as-error)"],
    ...days.map((played) => [String(played.day), played.gym.shown, played.strict.shown]),
    ["mean", meanOf(days.map((d) => d.gym)), meanOf(days.map((d) => d.strict))],
  ];
  return [
    `${days.length} days of GridSim with an idle schedule; on ${lost} of them the simulator never came up.`,
    "",
    ...aligned(rows),
    "",
    `Without maskgate, a client that reads only the reward has a mean of ${meanOf(days.map((d) => d.unguarded))}:`,
    `${lost} of them zeros that nobody measured.`,
    "",
    "In front of your own server:",
    "  maskgate serve http://127.0.0.1:9100 --port 9200 --masked-as-error",
  ];
}

function meanOf(outcomes: readonly DayOutcome[]): string {
  const scores = outcomes.flatMap((outcome) => outcome.score ?? []);
  if (scores.length === 0) return "none";
  const mean = scores.reduce((sum, value) => sum + value, 0) / scores.length;
  return `${mean.toFixed(2)} over ${scores.length} days`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
