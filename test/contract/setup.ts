import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { printCells, writeCells } from "./cells.js";
import type { Cell } from "./cells.js";
import { NEEDS, RECIPES } from "./peers.js";
import type { Capability, Peers } from "./peers.js";
import { findPython } from "./python.js";
import { ensureVenv } from "./venv.js";
import type { Venv } from "./venv.js";

const PAGE = new URL("../../docs/CLIENTS.md", import.meta.url);

/**
 * Makes the environments of the real peers, or finds them made. A peer that cannot be had is named, and its tests
 * are skipped; with `CI` set it fails the run instead. Returns what is done when the run ends.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!existsSync(fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url)))) {
    throw new Error("the contract tests start the built program: run `npm run build` first");
  }
  const peers: Peers = {};
  for (const capability of NEEDS[project.name] ?? []) {
    peers[capability] = await ensurePeer(capability);
  }
  const missing = Object.values(peers).flatMap((found) =>
    "missing" in found ? [found.missing] : [],
  );
  if (missing.length > 0 && process.env["CI"] === "true") throw new Error(missing.join("\n"));
  for (const sentence of missing) say(sentence);
  project.provide("peers", peers);
  return collectCells(project);
}

/** Makes the file for what tests see of docs/CLIENTS.md; returns what prints it and, with `-u`, writes the page. */
async function collectCells(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-cells-"));
  const file = join(folder, "cells.jsonl");
  await writeFile(file, "");
  const update = project.config.snapshotOptions.updateSnapshot === "all";
  project.provide("cells", { file, update });
  return async () => {
    const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
    await rm(folder, { recursive: true });
    if (lines.length === 0) return;
    const seen = lines.map((line) => JSON.parse(line) as Cell);
    const page = await readFile(PAGE, "utf8");
    if (update) await writeFile(PAGE, writeCells(page, seen));
    process.stdout.write(`${printCells(page, seen)}\n`);
  };
}

async function ensurePeer(capability: Capability): Promise<Venv | { missing: string }> {
  const { oldest = 11 } = RECIPES[capability];
  const python = findPython(oldest);
  const absent = (why: string) => ({ missing: `${capability}-capability-missing: ${why}` });
  if (python === undefined)
    return absent(`no Python 3.${oldest} or newer runs here; CONTRACT_PYTHON can name one`);
  try {
    return await ensureVenv(RECIPES[capability], python, say);
  } catch (error) {
    return absent(error instanceof Error ? error.message : String(error));
  }
}

function say(line: string): void {
  process.stdout.write(`[contract] ${line}\n`);
}
