import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // These tests wait more than they work.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          setupFiles: ["test/setup.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "proxy",
          include: ["test/proxy/**/*.test.ts"],
          setupFiles: ["test/setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          globalSetup: ["test/contract/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          // The peers are whole Python servers: after the others, and only so many at a time.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/mask/**", "src/route/**", "src/http/**"],
      thresholds: { branches: 100 },
    },
  },
});
