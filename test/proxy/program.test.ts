import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { MASKED, SCORED } from "../helpers/messages.js";

const docs = new URL("../../docs/", import.meta.url);
const example = (name: string) => fileURLToPath(new URL(`program/${name}`, docs));
const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));

async function run(command: string, args: readonly string[], input = "", env = process.env) {
  const child = spawn(command, [...args], { env, stdio: ["pipe", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-program-"));
  closeLater(async () => rm(folder, { recursive: true }));
  return folder;
}

describe("the examples of PROGRAM", () => {
  it.each(["proxy.test.mjs", "verdict.mjs", "verdicts.py"])(
    "are shown as they are: %s",
    async (name) => {
      const page = await readFile(new URL("PROGRAM.md", docs), "utf8");
      const blocks = [...page.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, text]) => text);
      expect(blocks).toHaveLength(3);
      expect(blocks).toContain(await readFile(example(name), "utf8"));
    },
  );

  it("start a proxy in a test, which passes", async () => {
    const { code, stdout } = await run(process.execPath, [example("proxy.test.mjs")]);
    expect(stdout).toMatch(/^# pass 1$|^ℹ pass 1$/m);
    expect(code).toBe(0);
  });

  it("tell a masked answer from a scored one", async () => {
    const folder = await makeFolder();
    const files = ["masked", "scored", "nothing"].map((name) => join(folder, name));
    const texts = [MASKED, SCORED, "[1]"];
    await Promise.all(files.map(async (file, at) => writeFile(file, texts[at]!)));
    const { stdout } = await run(process.execPath, [example("verdict.mjs"), ...files]);
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/masked is masked by mask_sample: judge_failed, \S/),
      `${files[1]} is scored`,
      `${files[2]} is unknown`,
    ]);
  });

  it("leave masked answers out of a mean in Python", async () => {
    const folder = await makeFolder();
    const program = join(folder, "maskgate");
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
    await chmod(program, 0o755);
    const env = { ...process.env, PATH: [folder, process.env["PATH"]].join(delimiter) };
    const input = `{"reward": 1.0}\n${MASKED}\n{"reward": 0.5}\n`;
    const { stdout } = await run("python3", [example("verdicts.py")], input, env);
    expect(stdout).toBe("mean 0.75 of 2 measured, 1 left out\n");
  });
});
