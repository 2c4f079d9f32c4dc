import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "../../contract/programs.js";

/** The suite wants a newer Node than maskgate does, so it brings its own. */
const PACKAGES = {
  "@modelcontextprotocol/conformance": "0.1.16",
  "@modelcontextprotocol/sdk": "1.32.2",
  node: "22.23.3",
};

const CACHE = fileURLToPath(new URL("../../../.cache/npm/", import.meta.url));
const SERVER = fileURLToPath(new URL("everything.mjs", import.meta.url));

/** The suite and the server, where they can be run. */
export interface McpPrograms {
  readonly node: string;
  readonly suite: string;
  readonly server: string;
}

/** The programs made earlier, or new ones in `.cache/npm/mcp-HASH`. */
export async function ensureMcp(): Promise<McpPrograms> {
  const hash = createHash("sha256").update(JSON.stringify(PACKAGES)).digest("hex");
  const folder = join(CACHE, `mcp-${hash.slice(0, 12)}`);
  const ready = join(folder, "ready");
  if (!existsSync(ready)) {
    process.stdout.write("[conformance] installing the MCP conformance suite\n");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const manifest = { private: true, dependencies: PACKAGES };
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    const args = ["install", "--no-audit", "--no-fund"];
    await runProgram({ name: "npm install", command: "npm", args, cwd: folder, env: process.env });
    await writeFile(ready, "");
  }
  const modules = join(folder, "node_modules");
  const server = join(folder, "everything.mjs");
  await copyFile(SERVER, server);
  return {
    node: join(modules, ".bin/node"),
    suite: join(modules, "@modelcontextprotocol/conformance/dist/index.js"),
    server,
  };
}
