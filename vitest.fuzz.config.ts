import { defineConfig } from "vitest/config";

/** Random input under a time budget: `npm run fuzz`, FUZZ_SECONDS for each target (10), FC_SEED for the seed (fresh and printed). No part of `npm test`. */
export default defineConfig({
  test: {
    name: "fuzz",
    include: ["test/fuzz/**/*.fuzz.ts"],
    testTimeout: 3_600_000,
    disableConsoleIntercept: true,
  },
});
