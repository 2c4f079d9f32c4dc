import { defineConfig } from "vitest/config";

/** A real training step of TRL: `npm run test:trl`. No part of `npm test`: each of its environments has 5.6 GB. */
export default defineConfig({
  test: {
    name: "trl",
    include: ["test/trl/**/*.test.ts"],
    globalSetup: ["test/contract/setup.ts"],
    testTimeout: 180_000,
    hookTimeout: 900_000,
  },
});
