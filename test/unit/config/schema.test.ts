import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../../src/config/resolve.js";
import { configJsonSchema } from "../../../src/config/schema.js";

const folder = new URL("../../../config/", import.meta.url);
const schemaFile = new URL("maskgate.schema.json", folder);
const example = readFileSync(new URL("maskgate.example.yaml", folder), "utf8");

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
}

/** Every schema of a key, with the key. */
function keysOf(schema: JsonSchema): [string, JsonSchema][] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema;
  const below = [items, ...anyOf, ...Object.values(properties)];
  if (typeof additionalProperties === "object") below.push(additionalProperties);
  return [
    ...Object.entries(properties),
    ...below.flatMap((child) => (child === undefined ? [] : keysOf(child))),
  ];
}

describe("config/maskgate.schema.json", () => {
  it("is what the schema in the code says (UPDATE_SCHEMA=1 writes it)", () => {
    const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
    if (process.env["UPDATE_SCHEMA"] === "1") writeFileSync(schemaFile, text);
    expect(readFileSync(schemaFile, "utf8")).toBe(text);
  });

  it("describes every key", () => {
    const keys = keysOf(configJsonSchema());
    expect(keys.length).toBeGreaterThan(25);
    expect(keys.filter(([, { description }]) => description === undefined)).toEqual([]);
  });
});

describe("config/maskgate.example.yaml", () => {
  it("is a valid configuration", () => {
    const result = resolveConfig({}, { name: "maskgate.example.yaml", text: example });
    expect("problems" in result ? result.problems : []).toEqual([]);
  });

  it("shows its schema to editors in the first line", () => {
    const [first] = example.split("\n");
    expect(first).toBe("# yaml-language-server: $schema=./maskgate.schema.json");
  });

  it("holds every option", () => {
    const keys = new Set(keysOf(configJsonSchema()).map(([key]) => key));
    const lines = example.split("\n").map((line) => line.replace(/#.*/, ""));
    const missing = [...keys].filter((key) => !lines.some((l) => new RegExp(`\\b${key}:`).test(l)));
    expect(missing).toEqual([]);
  });
});
