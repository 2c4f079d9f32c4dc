import { defineConfig } from "vitest/config";

/** Other people's suites, direct and through maskgate: `npm run test:conformance`. No part of `npm test`. */
export default defineConfig({
  test: {
    name: "conformance",
    include: ["test/conformance/**/*.test.ts"],
    globalSetup: ["test/conformance/setup.ts"],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // What the suites passed is printed as it is, without a header for each line.
    disableConsoleIntercept: true,
  },
});
