import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startProgram } from "../contract/programs.js";
import { goRuns } from "./toxiproxy/install.js";
import type { MUTANTS } from "./mutants/mutants.js";

type Name = keyof typeof MUTANTS;

/** Which tests of ours notice each mutant. */
const OURS: Readonly<Record<Exclude<Name, "none">, string>> = {
  "Host rewritten": "test/proxy/mcp-host.test.ts",
  "x-* dropped": "test/proxy/hop-by-hop.test.ts",
  "last Set-Cookie only": "test/proxy/cookies.test.ts",
  "Cookie fields joined by a comma": "test/proxy/cookies.test.ts",
  "query dropped": "test/proxy/verify-path.test.ts",
  "%2F decoded": "test/proxy/verify-path.test.ts",
  "// folded": "test/proxy/verify-path.test.ts",
  "Accept-Encoding dropped": "test/proxy/encodings.test.ts",
  "body re-serialised": "test/proxy/numbers.test.ts",
  "body capped at 1 MiB": "test/proxy/encodings.test.ts",
  "cut body sent as whole": "test/proxy/faults-upstream.test.ts",
  "everything buffered": "test/proxy/sse.test.ts",
  "upstream limited to 2 s": "test/conformance/slow.test.ts",
  "redirects followed": "test/proxy/redirects.test.ts",
  "status changed": "test/proxy/shapes.test.ts",
  "Content-Encoding left after decoding": "test/proxy/encodings.test.ts",
  "WebSocket extensions dropped": "test/conformance/websocket.test.ts",
  "WebSocket close code dropped": "test/conformance/websocket.test.ts",
  "WebSocket pings dropped": "test/conformance/websocket.test.ts",
};

/** A mutant that each of the others' suites notices: their traffic does go through the proxy. */
const SUITES: readonly (readonly [suite: string, mutant: Name])[] = [
  ["requests", "query dropped"],
  ["mcp", "Host rewritten"],
  ["gym-servers", "status changed"],
  ["schemathesis", "status changed"],
  ["toxiproxy", "cut body sent as whole"],
];

const missesGo = process.env["CI"] !== "true" && !goRuns();

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs a test file with this mutant in place of the proxy; gives the messages of the tests that failed, and how many passed. */
async function runWith(
  mutant: Name,
  file: string,
): Promise<{ readonly failures: readonly string[]; readonly passed: number }> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-mutant-"));
  try {
    const report = join(folder, "report.json");
    const config = "test/conformance/mutants/vitest.config.ts";
    const program = startProgram({
      name: `${file} with "${mutant}"`,
      command: process.execPath,
      args: [VITEST, "run", "--config", config, file, "--reporter=json", "--outputFile", report],
      cwd: ROOT,
      env: { ...process.env, MASKGATE_MUTANT: mutant },
    });
    const code = await program.ended;
    if (code !== 0 && code !== 1) throw new Error(program.output());
    const { testResults, numPassedTests } = JSON.parse(await readFile(report, "utf8")) as Report;
    const failures = testResults
      .flatMap((result) => result.assertionResults)
      .filter(({ status }) => status === "failed")
      .map(({ title, failureMessages }) => `${title}: ${failureMessages[0]?.split("\n")[0]}`);
    return { failures, passed: numPassedTests };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("a proxy that is wrong in one way", () => {
  test.each(Object.entries(OURS))("(%s) is noticed by %s", async (mutant, file) => {
    const { failures } = await runWith(mutant as Name, file);
    console.log(`mutant "${mutant}": ${file}: ${failures[0] ?? "SURVIVED"}`);
    expect(failures).not.toEqual([]);
  });

  test.for(SUITES)("is noticed by the suite %s (%s)", async ([suite, mutant], { skip }) => {
    skip(suite === "toxiproxy" && missesGo, "no Go runs here");
    const { failures } = await runWith(mutant, `test/conformance/${suite}.test.ts`);
    console.log(`mutant "${mutant}": suite ${suite}: ${failures[0] ?? "SURVIVED"}`);
    expect(failures.join("\n")).toMatch(/AssertionError/);
  });
});

test.each([...new Set(Object.values(OURS))])("no change is no failure of %s", async (file) => {
  const { failures, passed } = await runWith("none", file);
  expect(failures).toEqual([]);
  expect(passed).toBeGreaterThan(0);
});
