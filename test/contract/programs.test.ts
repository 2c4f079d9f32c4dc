import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const CONFIG = "test/contract/abandoned/vitest.config.ts";

const folder = mkdtempSync(join(tmpdir(), "maskgate-abandoned-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Abandoned {
  readonly vitest: ReturnType<typeof spawn>;
  readonly ended: Promise<unknown>;
  readonly worker: number;
  readonly program: number;
}

/** Runs the file that leaves a program behind, until it has started that program. */
async function abandon(name: string, env: NodeJS.ProcessEnv): Promise<Abandoned> {
  const file = join(folder, name);
  const vitest = spawn(process.execPath, [VITEST, "run", "--config", CONFIG], {
    cwd: ROOT,
    stdio: "ignore",
    env: { ...process.env, ...env, MASKGATE_PIDS: file },
  });
  const ended = once(vitest, "exit");
  const pids = await vi.waitFor(() => /^(\d+) (\d+)\n$/.exec(readFileSync(file, "latin1"))!, {
    timeout: 60_000,
    interval: 100,
  });
  return { vitest, ended, worker: Number(pids[1]), program: Number(pids[2]) };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function expectEnded(program: number): Promise<void> {
  try {
    await vi.waitFor(() => expect(isAlive(program)).toBe(false), { timeout: 20_000 });
  } finally {
    if (isAlive(program)) process.kill(program, "SIGKILL");
  }
}

describe.concurrent("a program that a test has started, and that does not end by itself, is ended", () => {
  test("when a beforeAll fails", async () => {
    const { ended, program } = await abandon("failed", {});
    await ended;
    await expectEnded(program);
  });

  test("when the worker is killed", async () => {
    const { ended, worker, program } = await abandon("worker", { MASKGATE_HANGS: "1" });
    process.kill(worker, "SIGKILL");
    await ended;
    await expectEnded(program);
  });

  test.each(["SIGINT", "SIGKILL"] as const)("when vitest gets %s", async (signal) => {
    const { vitest, ended, worker, program } = await abandon(signal, { MASKGATE_HANGS: "1" });
    vitest.kill(signal);
    await ended;
    try {
      await expectEnded(program);
    } finally {
      if (isAlive(worker)) process.kill(worker, "SIGKILL");
    }
  });
});
