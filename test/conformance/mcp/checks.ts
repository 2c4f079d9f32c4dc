import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "../../contract/programs.js";
import type { Outcomes } from "../comparison.js";
import type { McpPrograms } from "./install.js";

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
}

/** What the suite found at `url`: each check by its scenario, its name and, where it is made more than once, its number. */
export async function runScenarios({ node, suite }: McpPrograms, url: string): Promise<Outcomes> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-mcp-"));
  try {
    const program = startProgram({
      name: `MCP conformance at ${url}`,
      command: node,
      args: [suite, "server", "--url", `${url}/mcp`, "--suite", "all", "--output-dir", folder],
      env: process.env,
    });
    const code = await program.ended;
    const scenarios = (await readdir(folder)).toSorted();
    if ((code !== 0 && code !== 1) || scenarios.length === 0) throw new Error(program.output());
    const outcomes: Record<string, string> = {};
    for (const scenario of scenarios) {
      const text = await readFile(join(folder, scenario, "checks.json"), "utf8");
      const name = scenario.replace(/^server-(.*?)-\d{4}-.*$/, "$1");
      for (const { id, status } of JSON.parse(text) as Check[]) {
        if (status === "INFO") continue;
        let key = `${name}: ${id}`;
        for (let nth = 2; key in outcomes; nth++) key = `${name}: ${id} #${nth}`;
        outcomes[key] = status === "SUCCESS" ? "passed" : status.toLowerCase();
      }
    }
    return outcomes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
