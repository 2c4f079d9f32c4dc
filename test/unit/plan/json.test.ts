import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson } from "../../../src/plan/json.js";

describe("readJson", () => {
  it("reads every JSON text as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(readJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("reads NaN and the Infinities as null and leaves them in strings and names", () => {
    const text = String.raw`{"a":NaN,"b":[-Infinity,Infinity],"NaN":"NaN \" -Infinity","c":"\\","d":NaN}`;
    expect(readJson(text)).toEqual({
      a: null,
      b: [null, null],
      NaN: 'NaN " -Infinity',
      c: "\\",
      d: null,
    });
  });

  it("passes over a byte order mark", () => {
    expect(readJson("\uFEFF[1]")).toEqual([1]);
  });

  it.each(['{"a":', '{"a":NaN', '{"a":"NaN', '{"a":1NaN}', '{"a":1}{"a":2}', "NaNs", ""])(
    "reads nothing in %j",
    (text) => {
      expect(readJson(text)).toBeUndefined();
    },
  );
});
