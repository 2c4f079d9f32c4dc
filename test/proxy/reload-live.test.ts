import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request, verify } from "../helpers/messages.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { startServing } from "../helpers/serving.js";
import { freePort, type Script, startUpstream } from "../helpers/upstream.js";

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;

const listeners = (ports: readonly number[]): string =>
  `listen: [${ports.map((port) => `{port: ${port}}`).join(", ")}]\n`;

const STRICT = "routes: [{name: s, mode: strict}]\n";
const OFF = "routes: []\n";

/** Answers at once, but for a request whose answer the test sends itself. */
const holding: Script = ({ received, write }) => {
  if (received.target !== "/ng-rollout/held-0/verify") write(answer(MASKED));
};

const HELD = request("POST", "/ng-rollout/held-0/verify", { body: "{}" });

const status = async (url: string): Promise<number> => (await rawRequest(url, verify())).status;

describe("SIGHUP", () => {
  it("reads the file again, and says so when nothing has changed", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const { program, nth, url } = await startServing(
      `upstream: ${upstream.url}\nlisten: {port: 0}\n${STRICT}`,
    );
    program.child.kill("SIGHUP");
    expect(await nth("config_applied", 1)).toMatchObject({
      level: "info",
      msg: "nothing has changed",
    });
    program.child.kill("SIGHUP");
    await nth("config_applied", 2);
    expect(await status(url)).toBe(503);
  });

  it("changes nothing while there is no file, and a new file applies", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const head = `upstream: ${upstream.url}\nlisten: {port: 0}\n`;
    const { program, file, change, nth, url } = await startServing(head + STRICT);
    rmSync(file);
    expect((await nth("config_missing", 1))["msg"]).toContain(file);
    program.child.kill("SIGHUP");
    const refused = await nth("config_refused", 1);
    expect(refused).toMatchObject({ level: "error" });
    expect(refused["msg"]).toContain("cannot be read");
    expect(await status(url)).toBe(503);
    await change(head + OFF, "config_applied");
    expect(await status(url)).toBe(200);
  });
});

it("a file that becomes a pipe is refused, and a file in its place applies", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const head = `upstream: ${upstream.url}\nlisten: {port: 0}\n`;
  const { program, file, change, nth, url } = await startServing(head + STRICT);
  execFileSync("mkfifo", [`${file}.pipe`]);
  renameSync(`${file}.pipe`, file);
  const { problems } = await nth("config_refused", 1);
  expect(problems).toEqual([expect.stringContaining("cannot be read (not a regular file)")]);
  expect(await status(url)).toBe(503);
  await change(head + OFF, "config_applied", "by rename");
  expect(await status(url)).toBe(200);
  program.child.kill("SIGTERM");
  expect((await program.finished).code).toBe(0);
});

it("a configuration from a pipe is good for a start, and a SIGHUP changes nothing", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
  closeLater(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const program = startCli(["serve", "--config", pipe]);
  await writeFile(pipe, `upstream: ${upstream.url}\nlisten: {port: 0}\n${STRICT}`);
  const url = String((await program.event("listening"))["url"]);
  program.child.kill("SIGHUP");
  await program.event("config_refused");
  expect(await status(url)).toBe(503);
});

it("a refused file is reported once, with all of its problems and where they are", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const head = `upstream: ${upstream.url}\nlisten: {port: 0}\n`;
  const { change, nth, logged, program, url, file } = await startServing(head + STRICT);
  const refused = await change(
    `${head}stict: 1\nroutes: [{name: s, mode: strct, ramp: {percentage: 101}}]\n`,
    "config_refused",
  );
  const { problems } = refused as { problems?: readonly string[] };
  for (const [part, line] of [
    ["stict: unknown key", 3],
    ["routes[0].mode: not one of the choices", 4],
    ["routes[0].ramp.percentage: too large, found 101", 4],
  ] as const) {
    const problem = problems?.find((text) => text.includes(part));
    expect(problem, part).toContain(`(${file} line ${line})`);
    expect(refused["msg"]).toContain(part);
  }
  program.child.kill("SIGHUP");
  await nth("config_refused", 2);
  expect(logged("config_refused")).toHaveLength(2);
  expect(await status(url)).toBe(503);
});

it("the log says what has changed, old and new", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const head = `upstream: ${upstream.url}\nlisten: {port: 0}\n`;
  const { change } = await startServing(
    `${head}routes: [{name: v, match: {pathPrefix: /v}, mode: observe}]\n`,
  );
  const applied = await change(
    `${head}verifyPaths: [/verify, /run]\nroutes: [{name: w, match: {header: {x: y}}, mode: passthrough}, {name: v, match: {pathPrefix: /v}, mode: strict, except: ["a*"], translation: null}]\n`,
    "config_applied",
  );
  for (const said of [
    "routes: v → w, v",
    "routes.v.mode: observe → strict",
    "routes.v.translation: error → null",
    "routes.w.match.header.x: nothing → y",
    "verifyPaths.1: nothing → /run",
  ]) {
    expect(applied["msg"]).toContain(said);
  }
});

describe("a listener", () => {
  it("that is added opens, and one that is removed finishes what is in flight and takes nobody in", async () => {
    const upstream = await startUpstream(holding);
    const [one, two] = [await freePort(), await freePort()];
    const head = `upstream: ${upstream.url}\n`;
    const { change, program } = await startServing(head + listeners([one]) + STRICT);
    const held = await openClient(urlOf(one));
    held.write(HELD);
    const exchange = await upstream.arrived();
    const idle = await openClient(urlOf(one));
    idle.write(verify());
    expect((await idle.reply("POST")).status).toBe(503);
    const silent = await openClient(urlOf(one));

    const applied = await change(head + listeners([two]) + OFF, "config_applied");
    expect(applied["msg"]).toContain(`listen: 127.0.0.1:${one} → 127.0.0.1:${two}`);
    expect(await status(urlOf(two))).toBe(200);
    await expect(openClient(urlOf(one))).rejects.toThrow("ECONNREFUSED");
    await Promise.all([idle.incoming.ended, silent.incoming.ended]);

    // It may come back while its last request is still there.
    await change(head + listeners([two, one]) + OFF, "config_applied");
    expect(await status(urlOf(one))).toBe(200);
    exchange.write(answer(MASKED));
    const reply = await held.reply("POST");
    expect(reply.status).toBe(503);
    expect(valuesOf(reply.fields, "connection")).toEqual(["close"]);
    await held.incoming.ended;
    expect(await status(urlOf(one))).toBe(200);
    program.child.kill("SIGTERM");
    expect((await program.finished).code).toBe(0);
  });

  it("that cannot be had refuses the whole file", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const taken = await startUpstream(answer("{}"));
    const one = await freePort();
    const head = `upstream: ${upstream.url}\n`;
    const { change } = await startServing(head + listeners([one]) + STRICT);
    const refused = await change(head + listeners([one, taken.port]) + OFF, "config_refused");
    expect(refused["msg"]).toContain(`127.0.0.1:${taken.port}`);
    expect(await status(urlOf(one))).toBe(503);
    await change(head + listeners([one]) + OFF, "config_applied");
    expect(await status(urlOf(one))).toBe(200);
  });

  it("that was removed with a request in flight is waited for at the end", async () => {
    const upstream = await startUpstream(holding);
    const [one, two] = [await freePort(), await freePort()];
    const head = `upstream: ${upstream.url}\n`;
    const { change, program } = await startServing(head + listeners([one]) + STRICT);
    const held = await openClient(urlOf(one));
    held.write(HELD);
    const exchange = await upstream.arrived();
    await change(head + listeners([two]) + STRICT, "config_applied");
    program.child.kill("SIGTERM");
    expect(await program.event("draining")).toMatchObject({ inFlight: 1 });
    exchange.write(answer(MASKED));
    expect((await held.reply("POST")).status).toBe(503);
    expect((await program.finished).code).toBe(0);
  });
});

describe("what needs a restart", () => {
  it("is said, and what can be changed is applied", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const other = await startUpstream(answer("{}"));
    const head = "listen: {port: 0}\n";
    const { change, url, nth, logged } = await startServing(
      `upstream: ${upstream.url}\n${head}${STRICT}`,
    );
    await change(`upstream: ${other.url}\n${head}maxAnswerBytes: 5\n${OFF}`, "config_applied");
    const line = await nth("config_needs_restart", 1);
    expect(line).toMatchObject({
      level: "warn",
      changes: expect.arrayContaining([
        { path: "upstream", from: upstream.url, to: other.url, needsRestart: true },
        expect.objectContaining({ path: "maxAnswerBytes", to: "5" }),
      ]) as unknown,
    });
    expect((await rawRequest(url, verify())).text).toBe(MASKED);
    expect(other.requests).toHaveLength(0);
    // Taken back, it needs none any more.
    await change(`upstream: ${upstream.url}\n${head}${STRICT}`, "config_applied");
    expect(logged("config_needs_restart")).toHaveLength(1);
    expect(await status(url)).toBe(503);
  });

  it("is said alone where nothing else has changed", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const head = "listen: {port: 0}\n";
    const { change, logged, url } = await startServing(
      `upstream: ${upstream.url}\n${head}${STRICT}`,
    );
    await change(`upstream: http://127.0.0.1:1\n${head}${STRICT}`, "config_needs_restart");
    expect(logged("config_applied")).toEqual([]);
    expect(await status(url)).toBe(503);
  });
});

it("a route that comes to send NaN is warned about, at the start and at a change", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const head = `upstream: ${upstream.url}\nlisten: {port: 0}\n`;
  const { change, nth } = await startServing(
    `${head}routes: [{name: axolotl, mode: strict, translation: nan}]\n`,
  );
  expect(await nth("translation_nan", 1)).toMatchObject({ level: "warn", route: "axolotl" });
  await change(head + STRICT, "config_applied");
  await change(
    `${head}routes: [{name: other, mode: strict, translation: nan}]\n`,
    "config_applied",
  );
  expect(await nth("translation_nan", 2)).toMatchObject({ level: "warn", route: "other" });
});

it("what was most likely not meant is warned about, at the start and when it comes with a change", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const routes = (percentage: number, salt: string): string =>
    `upstream: ${upstream.url}\nlisten: {port: 0}\n` +
    `routes: [{name: v, match: {pathPrefix: /v}, mode: strict, ramp: {percentage: ${percentage}, salt: ${salt}}}]\n`;
  const { change, nth, logged } = await startServing(routes(0.5, "a"));
  expect(logged("listening")[0]?.["msg"]).toContain("(routes: 1 route)");
  const doubts = (): unknown[] => logged("config_doubtful").map(({ level, msg }) => [level, msg]);
  await nth("config_doubtful", 1);
  await change(routes(0.5, "b"), "config_applied");
  await change(routes(0.25, "b"), "config_applied");
  await nth("config_doubtful", 2);
  expect(doubts()).toEqual([
    ["warn", expect.stringContaining("50 % is written 50")],
    ["warn", expect.stringContaining("25 % is written 25")],
  ]);
});
