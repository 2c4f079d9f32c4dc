import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nameOf, readCells, writeCells } from "../contract/cells.js";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/CLIENTS.md", root), "utf8");
const cells = readCells(page);

describe("the tables of CLIENTS", () => {
  it("have no empty cell, and each says whether it was run or read", () => {
    expect(new Set(cells.map(({ table }) => table))).toEqual(new Set(["clients", "servers"]));
    for (const cell of cells)
      expect(cell.text, nameOf(cell)).toMatch(/^(?:run|run, rewritten|read): (?:\w|`)/);
  });

  it("say run only where a test looks", () => {
    const run = cells.filter(({ table, text }) => table === "clients" && text.startsWith("run"));
    const looked = ["contract", "matrix", "trl"].flatMap((folder) =>
      readdirSync(new URL(`test/${folder}/`, root))
        .filter((name) => name.endsWith(".test.ts"))
        .flatMap((name) => looksOf(readFileSync(new URL(`test/${folder}/${name}`, root), "utf8"))),
    );
    expect(new Set(run.map((cell) => `${cell.row}, ${cell.column}`))).toEqual(new Set(looked));
  });

  it("are written cell by cell, and nothing else of the page changes", () => {
    expect(writeCells(page, cells)).toBe(page);
    for (const cell of cells) {
      const written = writeCells(page, [{ ...cell, text: "run: something else" }]);
      const changed = readCells(written).filter(({ text }, at) => text !== cells[at]!.text);
      expect(changed).toEqual([{ ...cell, text: "run: something else" }]);
      expect(writeCells(written, [cell])).toBe(page);
    }
  });

  it("have no cell for what is not on the page", () => {
    const nobody = { table: "clients", row: "nobody", column: "error", text: "run: nothing" };
    expect(() => writeCells(page, [nobody])).toThrow("no cell clients: nobody, error");
  });
});

/** The cells that a test file's calls of `sees` name; a call with `name` is one for each `name: "…"` of the file. */
function looksOf(text: string): string[] {
  const names = [...text.matchAll(/\{ name: "([^"]+)"/g)].map(([, name]) => name!);
  const calls = text.matchAll(/\bsees\(\s*(?:"([^"]+)"|name),\s*\{([^}]*)\}/g);
  return [...calls].flatMap(([, row, body = ""]) => {
    const columns = [...body.matchAll(/(\w+): /g)].map(([, column]) => column!);
    return (row === undefined ? names : [row]).flatMap((one) =>
      columns.map((column) => `${one}, ${column}`),
    );
  });
}
