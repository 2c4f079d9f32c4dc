import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const PAGE = read("docs/DEPLOY.md");

/** Where each command of an `sh` block is run, as it stands there. */
const RUN_BY: Readonly<Record<string, readonly [file: string, text: string]>> = {
  "npm ci": [".ci/run", "npm ci"],
  "npm run wheel": [".ci/wheel", "bash packaging/pypi/build.sh"],
  "pip install dist-wheel/maskgate-*.whl": [
    ".ci/wheel",
    'pip install --disable-pip-version-check --quiet --no-compile "$work"/wheel/maskgate-*.whl',
  ],
  "maskgate demo": ["packaging/pypi/check.py", '[SCRIPT, "demo"]'],
  "npm pack": [".ci/packed", "npm pack"],
  "npm install --omit=dev maskgate-*.tgz": [".ci/packed", "npm install --omit=dev"],
  "npx --no-install maskgate demo": [".ci/packed", "npx --no-install maskgate demo"],
  "maskgate run --port 9200 --masked-as-error -- python -m my_server --port 9100": [
    "test/proxy/run.test.ts",
    'startRun(["--masked-as-error"], gymServer(...words))',
  ],
};

describe("DEPLOY", () => {
  it("has in its sh blocks only commands that a test runs", () => {
    const lines = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, text = ""]) =>
      text.trimEnd().split("\n"),
    );
    expect(lines.toSorted()).toEqual(Object.keys(RUN_BY).toSorted());
    for (const [file, text] of Object.values(RUN_BY)) expect(read(file)).toContain(text);
  });

  it("says of every other command that no test runs it", () => {
    const before = [...PAGE.matchAll(/((?:.+\n)+)\n```console\n/g)].map(([, text]) => text);
    expect(before).toHaveLength([...PAGE.matchAll(/^```console$/gm)].length);
    for (const text of before) expect(text).toMatch(/\bno test\s/i);
  });
});
