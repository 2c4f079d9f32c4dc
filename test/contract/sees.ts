import { appendFileSync, readFileSync } from "node:fs";
import { expect, inject } from "vitest";
import { nameOf, readCells, sameCell } from "./cells.js";
import type { Cell } from "./cells.js";

/** What a route does, as the columns of the table of clients are called. */
export type Route = "passthrough" | "error" | "null" | "nan" | "mirror";

const PAGE = new URL("../../docs/CLIENTS.md", import.meta.url);

/**
 * Holds docs/CLIENTS.md to what a test saw of one client: each cell must say `run: …`, word for word. With `-u` the page
 * is written instead, when the run ends. `how` is for a client that is not there whole: `run, rewritten`.
 */
export function sees(row: string, cells: Partial<Record<Route, string>>, how = "run"): void {
  seesCells("clients", row, cells, how);
}

/** The same for any table of the page. */
export function seesCells(
  table: string,
  row: string,
  cells: Readonly<Record<string, string>>,
  how = "run",
): void {
  const { file, update } = inject("cells");
  const seen = Object.entries(cells).map(([column, text]): Cell => ({
    table,
    row,
    column,
    text: `${how}: ${text}`,
  }));
  appendFileSync(file, seen.map((cell) => `${JSON.stringify(cell)}\n`).join(""));
  if (update) return;
  const page = readCells(readFileSync(PAGE, "utf8"));
  const said = seen.map((cell) => page.find((other) => sameCell(cell, other))?.text);
  const hint = `docs/CLIENTS.md says otherwise (${nameOf(seen[0]!)}); if this run is right, run it again with -u`;
  expect(said, hint).toEqual(seen.map(({ text }) => text));
}
