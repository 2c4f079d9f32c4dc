import { printable } from "../printable.js";
import type { RecentRecord } from "./recent.js";
import type { RouteStatus, Status } from "./status.js";

/** How a line is to be set off. */
export type Emphasis = "plain" | "strong" | "storm" | "faint";

/** One line for a terminal: printable, without control characters, however servers wrote their reasons. */
export interface TopLine {
  readonly emphasis: Emphasis;
  readonly text: string;
}

/** Where the text is cut, and how many of the last masked answers fit. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** There is no connection any more. */
export interface Lost {
  /** When the numbers came. */
  readonly since: Date;
  readonly why: string;
}

/** A whole screen, with what its keys do in the last row; without a connection it says since when, and that the numbers are old. */
export function topScreen(
  status: Status,
  { columns, rows }: Screen,
  lost: Lost | undefined,
): TopLine[] {
  const notice = lost === undefined ? [] : [lostLine(lost)];
  const room = Math.max(0, rows - notice.length - 1);
  const lines = topLines(status, { columns, rows: room });
  // Nothing is as it stands there any more.
  const shown = lost === undefined ? lines : lines.map(({ text }) => ({ emphasis: FAINT, text }));
  const body = [...notice, ...shown.slice(0, room)];
  const gap = Array.from({ length: Math.max(0, rows - 1 - body.length) }, () => ({
    emphasis: FAINT,
    text: "",
  }));
  const all = [...body, ...gap, { emphasis: FAINT, text: "q: quit" }];
  return all.slice(-rows).map(({ emphasis, text }) => ({ emphasis, text: text.slice(0, columns) }));
}

const FAINT = "faint" as const;

function lostLine({ since, why }: Lost): TopLine {
  const time = since.toISOString().slice(11, 19);
  return {
    emphasis: "storm",
    text: printable(`OLD NUMBERS: no connection since ${time} UTC: ${why}`),
  };
}

/** A status for a terminal of this size. */
export function topLines(status: Status, { columns, rows }: Screen): TopLine[] {
  const storms = status.routes.filter(({ stormSince }) => stormSince !== undefined);
  const head: TopLine[] = [
    { emphasis: "strong", text: headText(status) },
    { emphasis: "plain", text: loadText(status) },
    ...storms.map(({ name, window }): TopLine => {
      const share = `${percent(window.share)} of the last ${window.answers} answers are masked`;
      return { emphasis: "storm", text: `MASK STORM on route ${name}: ${share}` };
    }),
    { emphasis: "plain", text: "" },
    ...tableLines(ROUTE_HEADS, status.routes.map(routeCells), status.routes.map(routeEmphasis)),
    { emphasis: "plain", text: "" },
  ];
  const room = Math.max(0, rows - head.length - 1);
  return [...head, ...recentLines(status.recent, room)].map(({ emphasis, text }) => ({
    emphasis,
    text: printable(text).slice(0, columns),
  }));
}

function recentLines(records: Status["recent"], room: number): TopLine[] {
  const recent = records.slice(0, room);
  if (recent.length > 0) return tableLines(RECENT_HEADS, recent.map(recentCells), []);
  const text = records.length === 0 ? "no masked answers yet" : "masked answers: no room here";
  return [{ emphasis: FAINT, text }];
}

const ROUTE_HEADS = [
  "route",
  "mode",
  "ramp",
  "requests",
  "answers",
  "masked",
  "translated",
  "errors",
  "now",
];
const RECENT_HEADS = ["time", "route", "kind", "client got", "task", "reason"];

function headText({ version, upstream, uptimeSeconds, draining }: Status): string {
  const up = spanText(uptimeSeconds);
  return `maskgate ${version} in front of ${upstream}, up ${up}${draining ? ", draining" : ""}`;
}

function spanText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function loadText({ inFlight, heldBytes, holdMemoryBytes, spilledBytes }: Status): string {
  const held = `${mebibytes(heldBytes)} of ${mebibytes(holdMemoryBytes)} held`;
  return `${inFlight} in flight, ${held}, ${mebibytes(spilledBytes)} spilled`;
}

function routeCells(route: RouteStatus): string[] {
  const { name, mode, ramp, requests, aborted, answers, translated, errors, window } = route;
  const all = answers.scored + answers.masked + answers.unknown + answers.uninspectable;
  const failed = Object.values(errors).reduce((sum, n) => sum + n, 0);
  const now = window.answers === 0 ? "–" : `${percent(window.share)} of ${window.answers}`;
  return [
    name,
    mode,
    ramp === undefined ? "–" : `${ramp.percentage} %`,
    String(requests + aborted),
    String(all),
    String(answers.masked),
    String(translated),
    String(failed),
    mode === "passthrough" ? "not looked at" : now,
  ];
}

function routeEmphasis({ stormSince }: RouteStatus): Emphasis {
  return stormSince === undefined ? "plain" : "storm";
}

function recentCells(record: RecentRecord): string[] {
  const { time, route, kind, decision, status, task, reason } = record;
  const got = decision === "translate" ? `${status} (${record.translation})` : "the answer";
  return [time.slice(11, 19), route, kind.slice(0, 30), got, (task ?? "–").slice(0, 12), reason];
}

function tableLines(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  emphases: readonly Emphasis[],
): TopLine[] {
  const widths = heads.map((head, i) =>
    Math.max(head.length, ...rows.map((row) => row[i]!.length)),
  );
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
  return [
    { emphasis: "faint", text: lineOf(heads) },
    ...rows.map((row, i): TopLine => ({ emphasis: emphases[i] ?? "plain", text: lineOf(row) })),
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
