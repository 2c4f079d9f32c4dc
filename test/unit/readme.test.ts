import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { resolveConfig } from "../../src/config/resolve.js";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const docs = readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" });
const PAGES = ["README.md", ...docs.map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);
const snippets = readdirSync(new URL("test/contract/snippets/", root));

function blocks(page: string, language: string): string[] {
  const fences = read(page).matchAll(/^```(\S*)\n(.*?)^```$/gms);
  return [...fences].filter(([, named]) => named === language).map(([, , text]) => text ?? "");
}

describe("README and OPERATIONS", () => {
  it.each(["toml", "yaml", "python"])(
    "show every %s that the contract tests run, and no other",
    (language) => {
      const shown = ["README.md", "docs/OPERATIONS.md"].flatMap((page) => blocks(page, language));
      const run = snippets
        .filter((name) => name.endsWith(language === "python" ? ".py" : `.${language}`))
        .map((name) => read(`test/contract/snippets/${name}`));
      expect(shown.toSorted()).toEqual(run.toSorted());
    },
  );

  it("show only configurations that are valid", () => {
    const texts = blocks("docs/OPERATIONS.md", "yaml");
    expect(texts).not.toHaveLength(0);
    for (const text of texts) {
      expect(resolveConfig({}, { name: "OPERATIONS.md", text })).not.toHaveProperty("problems");
    }
  });

  it("are right that passthrough with a ramp is refused and observe with a ramp is not", () => {
    const ramp = read("test/contract/snippets/ramp-off.yaml");
    const as = (mode: string) =>
      resolveConfig({}, { name: "f", text: ramp.replace("mode: strict", `mode: ${mode}`) });
    expect(as("passthrough")).toHaveProperty("problems");
    expect(as("observe")).not.toHaveProperty("problems");
  });
});

it("the first ten minutes of README begin with a file that observes and comes to be strict by one word", () => {
  const [, text = ""] = /<<'END'\n(.*?)^END$/ms.exec(read("README.md")) ?? [];
  for (const mode of ["observe", "strict"]) {
    const file = { name: "README.md", text: text.replace("mode: observe", `mode: ${mode}`) };
    const loaded = resolveConfig({ flags: { adminPort: "9201" } }, file);
    if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
    expect(loaded.config.routes).toMatchObject([{ mode, match: { pathPrefix: "/verifiers" } }]);
  }
});

it("pages that users of a package read call the program by its name", () => {
  for (const page of ["README.md", "docs/OBSERVE.md", "docs/OPERATIONS.md"]) {
    for (const text of blocks(page, "sh")) expect(text).not.toContain("bin/maskgate.js");
  }
});

describe.each(PAGES)("%s", (page) => {
  it("has only YAML that parses", () => {
    for (const text of blocks(page, "yaml")) expect(() => parse(text) as unknown).not.toThrow();
  });

  it("names only files that are there", () => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)\)/g)];
    for (const [, path = ""] of links) {
      expect(() => readdirOrRead(new URL(path, new URL(page, root)))).not.toThrow();
    }
  });

  it("names only npm scripts that are there", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...read(page).matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...new Set(named)]));
  });
});

function readdirOrRead(place: URL): void {
  if (place.pathname.endsWith("/")) readdirSync(place);
  else readFileSync(place);
}
