import { beforeAll, expect, test } from "vitest";
import { startResourcesServer } from "../contract/nemo-gym.js";
import { startProgram } from "../contract/programs.js";
import { expectSame, passes, type Run } from "./comparison.js";
import { direct, type PutBefore, through } from "./front.js";
import { runScenarios } from "./mcp/checks.js";
import { ensureMcp, type McpPrograms } from "./mcp/install.js";

let programs: McpPrograms;

beforeAll(async () => {
  programs = await ensureMcp();
});

async function runBehind(putBefore: PutBefore, upstream: string): Promise<Run> {
  const front = await putBefore(upstream);
  try {
    const outcomes = await runScenarios(programs, front.url);
    return { outcomes, carried: front.carried() };
  } finally {
    await front.close();
  }
}

async function startEverything(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const args = [programs.server];
  const program = startProgram({ name: "everything.mjs", command: programs.node, args });
  const url = await new Promise<string>((resolve, reject) => {
    program.onErrorLine(resolve);
    void program.ended.then(() => reject(new Error(program.output())));
  });
  return { url, stop: () => program.stop() };
}

async function compare(suite: string, upstream: string): Promise<Run> {
  const [before, behind, strict] = await Promise.all([
    runBehind(direct, upstream),
    runBehind(through(), upstream),
    runBehind(through({ maskedAsError: true }), upstream),
  ]);
  expectSame(suite, before, behind);
  expectSame(`${suite}, strict`, before, strict);
  return before;
}

test("an MCP server with everything passes all checks, directly and through maskgate", async () => {
  const everything = await startEverything();
  try {
    const { outcomes } = await compare("MCP conformance, everything", everything.url);
    expect(passes(outcomes)).toBe(44);
    expect(Object.values(outcomes)).not.toContain("failure");
  } finally {
    await everything.stop();
  }
});

test("nemo-gym's own MCP endpoint passes and fails the same checks through maskgate", async () => {
  const server = await startResourcesServer({
    server: "resources_servers.example_mcp_weather.app:ExampleMCPWeatherResourcesServer",
  });
  try {
    await compare("MCP conformance, nemo-gym", server.url);
  } finally {
    await server.program.stop();
  }
});
