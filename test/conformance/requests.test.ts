import { dirname, join } from "node:path";
import { test } from "vitest";
import { expectSame } from "./comparison.js";
import { direct, through } from "./front.js";
import { type PytestSuite, runPytest } from "./pytest.js";
import { conformanceVenv } from "./venvs.js";

/** Those that need an address on which nobody ever answers: nothing here leaves the machine. */
const AWAY = "not (test_connect_timeout or test_total_timeout_connect)";

async function requestsSuite(): Promise<PytestSuite> {
  const venv = await conformanceVenv({ name: "requests-2.32.5", prepare: "fetch_requests.py" });
  return {
    venv,
    plugin: "requests_plugin",
    cwd: join(dirname(venv.bin), "suite/requests-2.32.5"),
    args: ["-p", "no:httpbin", "-k", AWAY, "tests/test_requests.py"],
  };
}

test("requests' own tests end the same against httpbin and against maskgate before it", async () => {
  const suite = await requestsSuite();
  const [before, behind, strict] = await Promise.all([
    runPytest(suite, direct),
    runPytest(suite, through()),
    runPytest(suite, through({ maskedAsError: true })),
  ]);
  expectSame("requests 2.32.5", before, behind);
  expectSame("requests 2.32.5, strict", before, strict);
});
