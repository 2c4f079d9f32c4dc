import { defineConfig } from "vitest/config";

/** A test file that leaves its programs behind: started by programs.test.ts. */
export default defineConfig({
  test: { name: "abandoned", include: ["test/contract/abandoned/abandoned.ts"] },
});
