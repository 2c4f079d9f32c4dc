import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startResourcesServer } from "../contract/nemo-gym.js";
import { runProgram } from "../contract/programs.js";
import { pythonEnvironment } from "../contract/python.js";
import { venvVariables } from "../contract/venv.js";
import { through } from "./front.js";
import { conformanceVenv } from "./venvs.js";

const SCRIPT = fileURLToPath(new URL("python/differential.py", import.meta.url));
const CASES = 300;

interface Comparison {
  readonly compared: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly differences: readonly unknown[];
}

test.each([
  ["example_single_tool_call", "SimpleWeatherResourcesServer", false],
  ["example_mcp_weather", "ExampleMCPWeatherResourcesServer", true],
])(
  "what schemathesis asks of %s is answered the same through maskgate",
  async (name, cls, strict) => {
    const seed = Number(process.env["CONFORMANCE_SEED"] ?? randomInt(2 ** 31));
    const venv = await conformanceVenv({
      name: "schemathesis",
      prepare: "prepare_schemathesis.py",
    });
    const server = await startResourcesServer({ server: `resources_servers.${name}.app:${cls}` });
    const front = await through({ maskedAsError: strict })(server.url);
    try {
      const printed = await runProgram({
        name: "differential.py",
        command: venv.python,
        args: [SCRIPT, server.url, front.url, String(seed), String(CASES)],
        env: pythonEnvironment(venvVariables(venv)),
      });
      const { compared, statuses, differences } = JSON.parse(printed) as Comparison;
      const counts = `direct: ${compared} passed / through: ${compared - differences.length} passed`;
      const kinds = JSON.stringify(statuses);
      console.log(`schemathesis, ${name}: ${counts} (seed ${seed}, statuses ${kinds})`);
      expect(differences).toEqual([]);
      expect(compared).toBeGreaterThanOrEqual(CASES);
      expect(front.carried()).toBeGreaterThanOrEqual(compared);
    } finally {
      await front.close();
      await server.program.stop();
    }
  },
);
