import { defineConfig } from "vitest/config";

/** Older releases of the peers: slow, and needed only where the reading of an answer changes. */
export default defineConfig({
  test: {
    name: "matrix",
    include: ["test/matrix/**/*.test.ts"],
    globalSetup: ["test/contract/setup.ts"],
    testTimeout: 180_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
