import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
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
          fileParallelism: false,
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
