import { fileURLToPath } from "node:url";
import { findPython } from "../contract/python.js";
import { ensureVenv } from "../contract/venv.js";
import type { Recipe, Venv } from "../contract/venv.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** The environment of a recipe whose files lie beside these tests. Rejects where it cannot be made. */
export async function conformanceVenv(recipe: Omit<Recipe, "folder">): Promise<Venv> {
  const python = findPython();
  if (python === undefined) throw new Error("no Python 3.11 or newer runs here");
  return ensureVenv({ ...recipe, folder: HERE }, python, (line) => {
    process.stdout.write(`[conformance] ${line}\n`);
  });
}
