import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, SCORED } from "../helpers/messages.js";
import { through } from "../helpers/through.js";

const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));

async function fileWith(text: string | Uint8Array, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-explain-"));
  closeLater(async () => rm(folder, { recursive: true }));
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

async function piped(input: string, ...args: string[]): Promise<Record<string, unknown>[]> {
  const child = spawn(process.execPath, [BIN, "explain", ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (data: Buffer) => {
    stdout += data.toString();
  });
  child.stdin.end(input);
  await once(child, "close");
  expect(child.exitCode).toBe(0);
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("maskgate explain", () => {
  it("shows the very reply that the proxy sends", async () => {
    const [{ stdout, code }, { reply }] = await Promise.all([
      runCli(["explain", await fileWith(MASKED, "answer.json")]),
      through(answer(MASKED)),
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain(`  ${reply.line}\n`);
    expect(stdout).toContain(`  ${reply.text}\n`);
    for (const name of ["content-type", "content-length", "cache-control", "maskgate-verdict"]) {
      expect(stdout).toContain(`  ${name}: ${valuesOf(reply.fields, name)[0]}\n`);
    }
  });

  it.each([
    ["in UTF-16", answer(Buffer.from(SCORED, "utf16le"))],
    [
      "in a charset of its own",
      answer(SCORED, { headers: [["Content-Type", "application/json; charset=utf-7"]] }),
    ],
  ])("shows the refusal of an answer %s, as the proxy sends it", async (_, bytes) => {
    const [{ stdout, code }, { reply }] = await Promise.all([
      runCli(["explain", await fileWith(bytes, "answer.http")]),
      through(bytes),
    ]);
    expect(code).toBe(0);
    expect(reply.status).toBe(502);
    expect(stdout).toContain(`  ${reply.line}\n`);
    expect(stdout).toContain(`  ${reply.text}\n`);
  });

  it("reads JSON lines from standard input and gives one for each", async () => {
    const found = await piped(`${MASKED}\n${SCORED}\n\n[1]\n`, "--json", "-");
    expect(found).toMatchObject([
      { line: 1, verdict: "masked", kind: "judge_failed", signal: "mask_sample" },
      { line: 2, verdict: "scored" },
      { line: 4, verdict: "unknown", why: "not-an-object" },
    ]);
  });

  it.each(["\r\n", "\n"])("reads what curl -i prints, with %j between the lines", async (end) => {
    const head = ["HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "set-cookie: a=b", "", ""];
    const file = await fileWith(
      head.join(end) + JSON.stringify(JSON.parse(MASKED), null, 1),
      "a.txt",
    );
    const { stdout } = await runCli(["explain", file]);
    expect(stdout).toMatch(/^masked: judge_failed$/m);
    expect(stdout).toContain("  set-cookie: a=b\n");
    const [found] = await piped(["HTTP/2 500 ", "", MASKED].join(end), "--json", "-");
    expect(found?.["routes"]).toMatchObject([
      { because: "only a 200 is looked at, and this is a 500" },
      {},
    ]);
  });

  it.each([
    `{"status":200,"body":${MASKED}}`,
    `{"request":{"path":"/verify"},"response":{"status":200,"content":${MASKED}}}`,
    JSON.stringify({ status_code: 200, text: MASKED }),
    JSON.stringify({ response: { status: 200 }, bodyText: MASKED }),
  ])("does not take another form of recording for a scored answer: %s", async (text) => {
    const { code, stdout, stderr } = await runCli(["explain", await fileWith(text, "a.json")]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/line 1 .*looks like a recorded exchange.*"bodyText"/);
  });

  it("goes by the routes of a configuration", async () => {
    const config = await fileWith("routes: [{name: look, mode: observe}]", "maskgate.yaml");
    const [found] = await piped(MASKED, "--json", "-", "--config", config);
    expect(found?.["routes"]).toMatchObject([
      { route: "look", decision: "pass", because: "route is not strict" },
      { route: "everything else", because: "route is passthrough" },
    ]);
  });

  it("exits 2 with one sentence for what it cannot read", async () => {
    const [missing, empty] = await Promise.all([
      runCli(["explain", "/nowhere/answer.json"]),
      runCli(["explain", await fileWith("\n", "empty.json")]),
    ]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("no such file") });
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining("no answer in it") });
  });
});
