import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const readme = read("README.md");
const snippets = readdirSync(new URL("test/contract/snippets/", root)).filter((name) =>
  name.endsWith(".toml"),
);

function blocks(language: string): string[] {
  const fences = readme.matchAll(/^```(\S*)\n(.*?)^```$/gms);
  return [...fences].filter(([, named]) => named === language).map(([, , text]) => text ?? "");
}

describe("README", () => {
  it("shows every configuration that the contract tests run, and no other", () => {
    const run = snippets.map((name) => read(`test/contract/snippets/${name}`));
    expect(blocks("toml").toSorted()).toEqual(run.toSorted());
  });

  it("has only YAML that parses", () => {
    for (const text of blocks("yaml")) expect(() => parse(text) as unknown).not.toThrow();
  });

  it("names only files that are there", () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path ?? "");
    expect(links).not.toHaveLength(0);
    for (const path of links) expect(() => readdirOrRead(path)).not.toThrow();
  });

  it("names only npm scripts that are there", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...new Set(named)]));
  });
});

function readdirOrRead(path: string): void {
  if (path.endsWith("/")) readdirSync(new URL(path, root));
  else read(path);
}
