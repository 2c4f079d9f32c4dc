import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ask } from "../helpers/admin.js";
import { runCli, startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { deferred } from "../helpers/deferred.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

describe("maskgate top --once", () => {
  it("prints what a running maskgate has seen", async () => {
    const yaml = "admin: {port: 0}\nroutes: [{name: v, mode: strict}]";
    const proxy = await startConfigured(await startUpstream(answer(MASKED)), yaml);
    await rawRequest(proxy.url, verify());
    const { code, stdout } = await runCli(["top", proxy.gate.adminUrl ?? "", "--once"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^v +strict +100 % +1 +1 +1 +1 +0 +100 % of 1$/m);
    expect(stdout).toMatch(/judge_failed +503 \(error\) +[0-9a-f]{12} +the judge is gone$/m);
    expect(stdout).not.toContain("\u001B");
  });

  it.each<[string, string, Record<string, string>, RegExp]>([
    ["a wrong token", "token", { MASKGATE_ADMIN_TOKEN: "wrong" }, /refuses the token/],
    ["another path's server", answer("{}", { status: 404 }).toString(), {}, /404.*--admin-port\?/],
    ["JSON of something else", answer("{}").toString(), {}, /no maskgate listener/],
    ["a page of something else", answer("<p>hello").toString(), {}, /no maskgate listener/],
    ["what is not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", {}, /no maskgate listener/],
  ])("ends with a sentence at %s", async (_what, bytes, env, says) => {
    const url =
      bytes === "token"
        ? (await startConfigured("http://127.0.0.1:9", "admin: {port: 0, token: s3cret-token}"))
            .gate.adminUrl
        : (await startUpstream(bytes)).url;
    const { code, stderr } = await startCli(["top", url ?? "", "--once"], { env }).finished;
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("ends with a sentence when nobody answers or a token is asked for", async () => {
    const yaml = "admin: {port: 0, token: s3cret-token}\nroutes: [{name: v, mode: strict}]";
    const proxy = await startConfigured(await startUpstream(answer(MASKED)), yaml);
    const [nobody, refused, wrong] = await Promise.all([
      runCli(["top", `http://127.0.0.1:${await freePort()}`]),
      runCli(["top", proxy.gate.adminUrl ?? ""]),
      runCli(["top", "nowhere"]),
    ]);
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not answer/) });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/MASKGATE_ADMIN_TOKEN/),
    });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/not http/) });
  });
});

const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));
const LEFT = "\u001B[?25h\u001B[?1049l";

interface Terminal {
  type(this: void, keys: string): void;
  /** Resolves when what was shown since the last call has this text. */
  shows(this: void, text: string): Promise<void>;
  readonly ended: Promise<string>;
}

/** `maskgate top` on a terminal of util-linux's script. */
function openTerminal(url: string, columns: number, rows: number): Terminal {
  const command = `stty cols ${columns} rows ${rows}; exec ${process.execPath} ${BIN} top ${url}`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  closeLater(() => {
    child.kill("SIGKILL");
  });
  let all = "";
  let seen = 0;
  const watchers = new Set<() => void>();
  child.stdout.on("data", (data: Buffer) => {
    all += data.toString();
    for (const look of [...watchers]) look();
  });
  return {
    type: (keys) => child.stdin.write(keys),
    shows: async (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          const at = all.indexOf(text, seen);
          if (at === -1) return;
          seen = at + text.length;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    ended: once(child, "close").then(() => all),
  };
}

describe.skipIf(spawnSync("script", ["--version"]).status !== 0)("maskgate top", () => {
  it.each([
    ["q", "q"],
    ["Ctrl-C", "\u0003"],
  ])("keeps its screen whatever is typed, and leaves it at %s", async (_name, key) => {
    const proxy = await startConfigured("http://127.0.0.1:9", "admin: {port: 0}\nroutes: []");
    const terminal = openTerminal(proxy.gate.adminUrl ?? "", 80, 24);
    await terminal.shows("q: quit");
    terminal.type("xyz\u001A");
    await terminal.shows("q: quit");
    terminal.type(key);
    const all = await terminal.ended;
    expect(all).not.toMatch(/xyz|\^Z/);
    expect(all.endsWith(LEFT)).toBe(true);
  });

  it("leaves its screen also while an answer never comes to its end", async () => {
    const proxy = await startConfigured("http://127.0.0.1:9", "admin: {port: 0}\nroutes: []");
    const { text } = await ask(proxy, "/status");
    const endless = deferred();
    let isWhole = true;
    const { url } = await startHttpUpstream((_, reply) => {
      if (isWhole) {
        reply.end(text);
        return;
      }
      const drops = setInterval(() => reply.write(" "), 500);
      reply.once("close", () => clearInterval(drops));
      endless.resolve();
    });
    const terminal = openTerminal(url, 80, 24);
    await terminal.shows("q: quit");
    isWhole = false;
    await endless.promise;
    terminal.type("q");
    expect((await terminal.ended).endsWith(LEFT)).toBe(true);
  });

  it("says since when there is no connection, in lines that fit", async () => {
    const proxy = await startConfigured("http://127.0.0.1:9", "admin: {port: 0}\nroutes: []");
    const terminal = openTerminal(proxy.gate.adminUrl ?? "", 40, 10);
    await terminal.shows("q: quit");
    await proxy.close();
    await terminal.shows("OLD NUMBERS: no connection since ");
    await terminal.shows("q: quit");
    terminal.type("q");
    const screens = (await terminal.ended).split("\u001B[H").slice(1);
    for (const text of screens) {
      const rows = text
        .replace(LEFT, "")
        .split("\u001B[")
        .map((part, i) => (i === 0 ? part : part.replace(/^[\d;]*[A-Za-z]/, "")))
        .join("")
        .split(/\r+\n/);
      expect(rows.length).toBeLessThanOrEqual(10);
      expect(rows.filter((row) => row.length > 40)).toEqual([]);
    }
  });
});
