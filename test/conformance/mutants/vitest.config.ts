import { defineConfig } from "vitest/config";

/** Tests and suites with a broken proxy in place of maskgate: started by mutants.test.ts, which expects them to fail. */
export default defineConfig({
  test: {
    name: "mutants",
    include: [
      ...["test/proxy/**/*.test.ts", "test/conformance/*.test.ts", "test/fuzz/*.fuzz.ts"],
      "test/contract/verify-targets.test.ts",
    ],
    globalSetup: ["test/conformance/setup.ts"],
    setupFiles: ["test/conformance/mutants/setup.ts"],
    testTimeout: process.env["PROXY_MUTANT"] === "everything buffered" ? 10_000 : 180_000,
    hookTimeout: 180_000,
    bail: 1,
  },
});
