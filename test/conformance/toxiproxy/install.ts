import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "../../contract/programs.js";

const VERSION = "2.12.0";
const CACHE = fileURLToPath(new URL("../../../.cache/go/", import.meta.url));

/** Whether there is a Go that can make toxiproxy. */
export function goRuns(): boolean {
  return spawnSync("go", ["version"]).status === 0;
}

/** The server made earlier, or a new one in `.cache/go`. Rejects where Go cannot make it. */
export async function ensureToxiproxy(): Promise<string> {
  const made = join(CACHE, `toxiproxy-${VERSION}`);
  if (existsSync(made)) return made;
  process.stdout.write(`[conformance] making toxiproxy ${VERSION}\n`);
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, "making-"));
  try {
    await runProgram({
      name: "go install",
      command: "go",
      args: ["install", `github.com/Shopify/toxiproxy/v2/cmd/server@v${VERSION}`],
      env: { ...process.env, GOBIN: folder },
    });
    await rename(join(folder, "server"), made);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return made;
}
