import { describe, expect, it } from "vitest";
import { runDemo } from "../../src/cli/demo.js";

const REASON = "503 Masked: provider_unavailable: reset timed out after 0.01 s";

describe("maskgate demo", () => {
  it("shows the eight days side by side, the two lost ones as masked and as an error", async () => {
    const lines: string[] = [];
    await runDemo((line) => lines.push(line));
    const cells = lines.map((line) => line.split(/ {2,}/));
    expect(cells.filter(([first]) => /^([1-8]|mean)$/.test(first ?? ""))).toEqual([
      ["1", "0.20", "0.20"],
      ["2", "0.20", "0.20"],
      ["3", "0.00, masked", REASON],
      ["4", "0.20", "0.20"],
      ["5", "0.20", "0.20"],
      ["6", "0.00, masked", REASON],
      ["7", "0.20", "0.20"],
      ["8", "0.20", "0.20"],
      ["mean", "0.20 over 6 days", "0.20 over 6 days"],
    ]);
    expect(lines.join("\n")).toContain("mean of 0.15 over 8 days");
    expect(lines.at(-1)).toMatch(/maskgate serve .* --masked-as-error/);
  });
});
