import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { peer } from "../contract/peers.js";
import { expectSame } from "./comparison.js";
import { direct, through } from "./front.js";
import { type PytestSuite, runPytest } from "./pytest.js";

/** Those whose tests call their server with a TestClient. */
const SERVERS = [
  "example_mcp_weather",
  "example_session_state_mgmt",
  "gymnasium",
  "openenv",
  "osworld",
  "wordle",
];

/** Their modules are all called `tests.test_app`; without both options the first one that is loaded is run in place of the others. */
const APART = ["--import-mode=importlib", "-o", "consider_namespace_packages=true"];

function gymSuite(): PytestSuite {
  const venv = peer("nemo-gym");
  const lib = join(dirname(venv.bin), "lib");
  const python = readdirSync(lib).find((name) => name.startsWith("python"))!;
  return {
    venv,
    plugin: "gym_plugin",
    cwd: join(lib, python, "site-packages/resources_servers"),
    args: [...APART, "--rootdir", ".", ...SERVERS.map((name) => `${name}/tests`)],
  };
}

test("nemo-gym's own tests of its servers end the same over HTTP and through maskgate", async () => {
  const suite = gymSuite();
  const [before, behind, strict] = await Promise.all([
    runPytest(suite, direct),
    runPytest(suite, through()),
    runPytest(suite, through({ maskedAsError: true })),
  ]);
  expectSame("nemo-gym's servers", before, behind);
  expectSame("nemo-gym's servers, strict", before, strict);
});
