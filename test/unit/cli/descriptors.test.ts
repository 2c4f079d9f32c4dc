import { describe, expect, it } from "vitest";
import { descriptorLimit } from "../../../src/cli/descriptors.js";

const limits = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax processes             96519                96519                processes \nMax open files            ${soft.padEnd(20)} 1048576              files     \n`;

describe("the limit of open files", () => {
  it.each([
    [limits("1024"), 1024],
    [limits("unlimited"), Number.POSITIVE_INFINITY],
    ["", undefined],
  ])("is read from what the system tells (%#)", (text, limit) => {
    expect(descriptorLimit(text)).toBe(limit);
  });
});
