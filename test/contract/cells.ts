/** A cell of a table in docs/CLIENTS.md that says what was seen. */
export interface Cell {
  readonly table: string;
  readonly row: string;
  readonly column: string;
  /** Begins with the evidence: `run: …`, `run, rewritten: …` or `read: …`. */
  readonly text: string;
}

const BEGIN = /^<!-- cells: (\w+) -->$/;
const END = "<!-- end -->";

/** The cells of the tables between `<!-- cells: NAME -->` and `<!-- end -->`, in the order of the page. */
export function readCells(page: string): Cell[] {
  return placed(page).map(({ cell }) => cell);
}

/** The same page with these texts in the places of their cells. Throws when it has no such cell. */
export function writeCells(page: string, cells: readonly Cell[]): string {
  const places = placed(page);
  const lines = page.split("\n").map((line) => line.split(" | "));
  for (const cell of cells) {
    const place = places.find(({ cell: there }) => sameCell(there, cell));
    if (place === undefined) throw new Error(`docs/CLIENTS.md has no cell ${nameOf(cell)}`);
    const parts = lines[place.line]!;
    const last = place.part === parts.length - 1;
    parts[place.part] = last ? `${cell.text} |` : cell.text;
  }
  return lines.map((parts) => parts.join(" | ")).join("\n");
}

/** Such as `clients: verifiers 0.4.0, error`. */
export function nameOf({ table, row, column }: Omit<Cell, "text">): string {
  return `${table}: ${row}, ${column}`;
}

/** Whether both are the same place of the page, whatever they say. */
export function sameCell(one: Omit<Cell, "text">, other: Omit<Cell, "text">): boolean {
  return nameOf(one) === nameOf(other);
}

/** All cells, each with those that a run saw marked, as lines to print. */
export function printCells(page: string, seen: readonly Cell[]): string {
  const lines: string[] = [];
  let heading = "";
  for (const cell of readCells(page)) {
    const title = `${cell.table}: ${cell.row}`;
    if (title !== heading) lines.push((heading = title));
    const now = seen.find((other) => sameCell(cell, other));
    lines.push(
      `  ${now === undefined ? " " : "✓"} ${cell.column.padEnd(12)} ${(now ?? cell).text}`,
    );
  }
  return [...lines, "✓ seen in this run; the others stand in docs/CLIENTS.md"].join("\n");
}

function placed(page: string): { cell: Cell; line: number; part: number }[] {
  const found: { cell: Cell; line: number; part: number }[] = [];
  let table: string | undefined;
  let columns: string[] | undefined;
  for (const [line, text] of page.split("\n").entries()) {
    const begin = BEGIN.exec(text)?.[1];
    if (begin !== undefined || text === END) {
      [table, columns] = [begin, undefined];
    } else if (table !== undefined && text.startsWith("| ")) {
      const parts = text.replace(/^\| /, "").replace(/ \|$/, "").split(" | ");
      if (columns === undefined) {
        columns = parts;
        continue;
      }
      const [row = "", ...texts] = parts;
      for (const [at, column] of columns.slice(1).entries()) {
        found.push({ cell: { table, row, column, text: texts[at] ?? "" }, line, part: at + 1 });
      }
    }
  }
  return found;
}
