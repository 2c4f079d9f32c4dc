import { describe, expect, it } from "vitest";
import { progressBar, progressSentence } from "../../../src/plan/progress.js";

const half = { bytes: 2e9, totalBytes: 4e9, rollouts: 12_345, masked: 67, seconds: 90 };

describe("progress", () => {
  it("shows a bar with what is done and the time that is left", () => {
    expect(progressBar(half)).toBe(
      "[############............]  50 % of 4.0 GB, 12,345 rollouts, 1 min 30 s left",
    );
  });

  it("never passes 100 %", () => {
    expect(progressBar({ ...half, bytes: 5e9 })).toContain("[########################] 100 %");
  });

  it("says what was read where the size is not known, as with standard input", () => {
    const unknown = { ...half, bytes: 1234, totalBytes: undefined };
    expect(progressBar(unknown)).toBe("2 kB, 12,345 rollouts");
    expect(progressSentence(unknown)).toBe("read 2 kB: 12,345 rollouts, 67 masked");
  });

  it("says the same in a sentence", () => {
    expect(progressSentence({ ...half, bytes: 1.5e6 })).toBe(
      "read 1.5 MB of 4.0 GB: 12,345 rollouts, 67 masked",
    );
  });
});
