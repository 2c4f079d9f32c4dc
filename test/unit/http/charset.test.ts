import { describe, expect, it } from "vitest";
import { foreignCharset } from "../../../src/http/charset.js";

const of = (...types: string[]): string | undefined =>
  foreignCharset(types.flatMap((type) => ["Content-Type", type]));

describe("the charset of an answer", () => {
  it.each([
    "application/json",
    "application/json; charset=utf-8",
    'application/json;CHARSET="UTF-8"',
    "application/json; charset=UTF8; x=y",
    "application/json; charset=us-ascii",
    "text/html; charset=ISO-8859-1",
    "application/json; charset=",
    "application/json; charset = windows-1252",
  ])("is no other than UTF-8 for JSON's own characters in %s", (type) => {
    expect(of(type)).toBeUndefined();
  });

  it.each([
    ["application/json; charset=utf-7", "utf-7"],
    ['application/json; charset="UTF-7"', "UTF-7"],
    ["application/json;x=y;charset='cp037' ;z", "cp037"],
    ["application/json; charset=shift_jis", "shift_jis"],
    ["application/json; charset=utf-16", "utf-16"],
    ["application/json; charset=utf-8; charset=utf-7", "utf-7"],
  ])("is told where it is another: %s", (type, charset) => {
    expect(of(type)).toBe(charset);
  });

  it("is looked for in every field", () => {
    expect(of("application/json", "application/json; charset=gbk")).toBe("gbk");
    expect(foreignCharset([])).toBeUndefined();
  });
});
