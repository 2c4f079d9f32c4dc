import { describe, expect, it } from "vitest";
import { detectMask } from "../../../src/mask/verdict.js";

// The name instance_config stands far before the flag inside it; a walk that ends at the flag never learns whose flag it is.
describe("a mask inside instance_config", () => {
  const filler = (bytes: number): string => `"x":"${"a".repeat(bytes)}"`;

  it.each([0, 1, 20, 100, 100_000])("is found behind %i bytes of other members", (bytes) => {
    const body = `{"reward":0,"instance_config":{${filler(bytes)}, "mask_sample" : true},${filler(bytes)}}`;
    expect(detectMask(Buffer.from(body))).toMatchObject({ signal: "instance_config.mask_sample" });
  });

  it("is found under an escaped name and behind spaces", () => {
    const body = `{"reward": 0, "instance_\\u0063onfig" : { ${filler(50)} , "mask_\\u0073ample": 1 } }`;
    expect(detectMask(Buffer.from(body))).toMatchObject({ signal: "instance_config.mask_sample" });
  });

  it("is none where the flag lies deeper or elsewhere", () => {
    const body = `{"reward":1,"instance_config":{"a":{${filler(50)},"mask_sample":true}},"b":{"mask_sample":true}}`;
    expect(detectMask(Buffer.from(body))).toEqual({ verdict: "scored" });
  });
});
