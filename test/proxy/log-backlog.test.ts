import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { LineStream } from "../../src/cli/line-stream.js";
import { closeLater } from "../helpers/closing.js";

const LINES = 20_000;
const LINE = `${"x".repeat(1023)}\n`;
const MOST = 8 * 1024 * 1024;

/** A pipe of which both ends are this descriptor; neither end waits. */
function openPipe(): number {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  closeLater(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  return fd;
}

it("lines that nobody takes are kept up to 8 MiB, and how many were left out is said when somebody does", async () => {
  const fd = openPipe();
  const stream = new LineStream(fd);
  for (let n = 0; n < LINES; n += 1) stream.write(LINE);
  const buffer = Buffer.alloc(1 << 16);
  let text = "";
  const readUntil = async (isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) {
      try {
        text += buffer.toString("latin1", 0, readSync(fd, buffer));
      } catch (error) {
        expect(error).toMatchObject({ code: "EAGAIN" });
      }
      await setImmediate();
    }
  };
  await readUntil(() => text.length >= MOST);
  stream.write("last\n");
  await readUntil(() => text.endsWith("last\n"));
  const lines = text.split("\n");
  const kept = lines.filter((line) => line.startsWith("x")).length;
  expect(kept * LINE.length).toBeLessThan(MOST + 3 * LINE.length);
  const said = JSON.parse(lines.find((line) => line.startsWith("{")) ?? "{}") as object;
  expect(said).toMatchObject({ level: "warn", event: "log_lost", lines: LINES - kept });
});
