import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import type { LogLine } from "../helpers/proxy.js";

const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));

/** What a start logs, up to `listening`, with so many descriptors allowed. */
async function startedWith(limit: number): Promise<LogLine[]> {
  const serve = [BIN, "serve", "http://127.0.0.1:9", "--port", "0"];
  const child = spawn(
    "sh",
    ["-c", 'ulimit -n "$1" && shift && exec "$@"', "sh", String(limit), process.execPath, ...serve],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  closeLater(async () => {
    const gone = once(child, "close");
    child.kill("SIGKILL");
    await gone;
  });
  const lines: LogLine[] = [];
  for await (const line of createInterface(child.stderr)) {
    lines.push(JSON.parse(line) as LogLine);
    if (lines.at(-1)?.["event"] === "listening") break;
  }
  return lines;
}

describe.runIf(existsSync("/proc/self/limits"))("a start with few file descriptors", () => {
  it("warns, and says what to set", async () => {
    const [line, ...others] = await startedWith(1000);
    expect(line).toMatchObject({ level: "warn", event: "few_descriptors", limit: 1000 });
    expect(line?.["msg"]).toMatch(/about 500 requests in flight.*ulimit -n 20000/);
    expect(others).toHaveLength(1);
  });

  it("says nothing where there are enough", async () => {
    expect((await startedWith(20_000)).map(({ event }) => event)).toEqual(["listening"]);
  });
});
