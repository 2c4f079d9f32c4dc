import { expect, it } from "vitest";
import { configFile } from "../../../src/config/load.js";

it.each([
  ["the flag's", { file: "a.yaml", env: { MASKGATE_CONFIG: "b.yaml" } }, "a.yaml"],
  ["the variable's without a flag", { env: { MASKGATE_CONFIG: "b.yaml" } }, "b.yaml"],
  ["none for an empty variable", { env: { MASKGATE_CONFIG: "" } }, undefined],
  ["none without either", {}, undefined],
])("the file to read and to watch is %s", (_, input, expected) => {
  expect(configFile(input)).toBe(expected);
});
