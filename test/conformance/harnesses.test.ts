import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { runProgram, startProgram } from "../contract/programs.js";
import { type Name, programMutant, runWith } from "./mutants/run.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// What is started as a program is the built one.
beforeAll(async () => {
  const args = ["run", "--silent", "build"];
  await runProgram({ name: "build", command: "npm", args, cwd: ROOT, env: process.env });
});

/** A mutant that each property of the fuzz target notices. */
const PROPERTIES: readonly (readonly [titles: string, file: string, mutant: Name])[] = [
  ["the scan gives", "pure", "mask taken from a nested string"],
  ["the scan comes to a verdict", "pure", "mask taken from a nested string"],
  ["the path judge", "pure", "verify path not decoded"],
  ["the header stripper", "pure", "hop-by-hop fields passed on"],
  ["the header stripper", "pure", "fields that Connection names passed on"],
  ["the header stripper", "pure", "an end-to-end field dropped"],
  ["any bytes of a client", "proxy", "unknown fields end in an error"],
  ["any bytes of a client", "proxy", "unknown fields get no answer"],
  ["any bytes of an upstream", "proxy", "masks not seen"],
  ["no byte of an answer changes.* passthrough", "proxy", "body re-serialised"],
  ["no byte of an answer changes.* strict", "proxy", "masks not seen"],
];

describe("npm run fuzz", () => {
  const env = { FUZZ_SECONDS: "5", FC_SEED: "1" };

  test.each(PROPERTIES)("%s (%s): notices: %s", async (titles, file, mutant) => {
    const { failures } = await runWith(mutant, `test/fuzz/${file}.fuzz.ts`, { titles, env });
    console.log(`mutant "${mutant}": fuzz: ${failures[0] ?? "SURVIVED"}`);
    expect(failures.join("\n")).toMatch(/Property failed|outside of its tests/);
  });

  test.each(["pure", "proxy"])("%s: no change is no failure", async (file) => {
    const { failures, passed } = await runWith("none", `test/fuzz/${file}.fuzz.ts`, { env });
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(0);
  });
});

/** What the soak says of each mutant at its end. */
const ENDS: readonly (readonly [mutant: string, says: string])[] = [
  ["a mask let through as 200", "answers that are not accounted for"],
  ["an answer dropped", "answers that are not accounted for"],
  ["a byte altered", "answers that are not accounted for"],
  ["a request sent twice", "requests that were delivered twice"],
  ["an error inside", "the proxy ended by itself"],
  ["memory kept", "external memory grew"],
  ["a socket kept", "sockets left"],
  ["a file kept", "temporary files left"],
  ["an event loop held up", "event loop held up"],
  ["an end with 3", "ended with 3"],
  ["no end", "ended with null"],
];

/** The last line of a short soak. */
async function soak(env: NodeJS.ProcessEnv): Promise<string> {
  const program = startProgram({
    name: "soak",
    command: process.execPath,
    args: ["test/soak/soak.mjs", "--minutes", "0.05", "--seed", "1"],
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  const code = await program.ended;
  return `${program.output().trim().split("\n").at(-1)}, exit ${code}`;
}

describe("npm run soak", () => {
  test.each(ENDS)("notices: %s", async (mutant, says) => {
    const last = await soak(programMutant(mutant));
    console.log(`mutant "${mutant}": ${last}`);
    expect(last).toMatch(/^soak: FAILED: .*, exit 1$/);
    expect(last).toContain(says);
  });

  test("no change is no failure", async () => {
    expect(await soak({})).toBe("soak: passed, exit 0");
  });
});

describe("test/contract/verify-targets", () => {
  const file = "test/contract/verify-targets.test.ts";

  test("notices a path that is judged without being decoded", async () => {
    const { failures } = await runWith("verify path not decoded", file);
    expect(failures.join("\n")).toMatch(/AssertionError/);
  });

  test("notices a program that decodes the paths it sends on", async () => {
    const { failures } = await runWith("none", file, { env: programMutant("paths decoded") });
    expect(failures.join("\n")).toMatch(/AssertionError/);
  });

  test("no change is no failure", async () => {
    const { failures, passed } = await runWith("none", file);
    expect(failures).toEqual([]);
    expect(passed).toBe(2);
  });
});
