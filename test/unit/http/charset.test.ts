import fc from "fast-check";
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
    'application/json; profile="https://example.com/charset"',
    'application/json; x="charset=utf-16"',
    'application/json; profile="https://example.com/?charset=utf-16#x"; charset=utf-8',
    "application/vnd.charset+json; charsets=utf-16; x-charset=utf-16",
    "application/json; charset",
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
    ['application/json; x="a;charset=utf-16"', "utf-16"],
    ["charset=utf-16", "utf-16"],
    ["application/json; 'charset' =utf-16", "utf-16"],
    ["application/json; charset=utf=7", "utf=7"],
  ])("is told where it is another: %s", (type, charset) => {
    expect(of(type)).toBe(charset);
  });

  // aiohttp (3.14.5) takes any white space of Unicode off a parameter's name; email.message, which httpx has, reads RFC 2231.
  it.each([
    "application/json; charset\xc2\xa0=utf-7",
    "application/json; charset\xc2\x85=utf-7",
    "application/json; Charset\xe2\x80\x83=utf-7",
    "application/json; charset*=utf-7''",
    "application/json; charset*0=utf; charset*1=-7",
    'application/json; charset=";utf-16"',
    'application/json; charset="utf-8;x"',
    "application/json; charset=utf-8; charset\x1f=utf-7",
  ])("is no known one where clients may read the name otherwise: %j", (type) => {
    expect(of(type)).toBe(type);
  });

  it.each(["application/json;\xc2\xa0x=y", "application/j\xe9son", "application/json; x=\x7f"])(
    "is no known one in a type that is not printable ASCII: %j",
    (type) => {
      expect(of(type)).toBe(type);
    },
  );

  it("is no other in any type that a server may honestly write", () => {
    const letters = fc.stringMatching(/^[a-z][a-z0-9.+-]{0,12}$/);
    const token = fc.oneof(letters, fc.constantFrom("charsets", "x-charset"));
    const known = fc.constantFrom("utf-8", "UTF-8", '"utf-8"', "us-ascii", "iso-8859-1");
    const pair = fc.oneof(
      fc.tuple(fc.constantFrom("charset", "Charset", "CHARSET"), known),
      fc.tuple(
        token,
        fc.oneof(
          token,
          fc.stringMatching(/^"[ -!#-:<-[\]-~]{0,12}"$/),
          fc.constantFrom('"charset=utf-16"', '"charset"'),
        ),
      ),
    );
    fc.assert(
      fc.property(
        token,
        token,
        fc.array(fc.tuple(fc.constantFrom(";", "; ", " ;\t"), pair), { maxLength: 4 }),
        (type, subtype, pairs) => {
          const parameters = pairs.map(([gap, [name, value]]) => `${gap}${name}=${value}`);
          expect(of(`${type}/${subtype}${parameters.join("")}`)).toBeUndefined();
        },
      ),
    );
  });

  it("is looked for in every field", () => {
    expect(of("application/json", "application/json; charset=gbk")).toBe("gbk");
    expect(foreignCharset([])).toBeUndefined();
  });
});
