import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request } from "../helpers/messages.js";
import { MODES } from "../helpers/modes.js";
import { startProgramInMode } from "../helpers/program.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream, type Upstream } from "../helpers/upstream.js";

/** More than 200 blocks hold. */
const LARGE = MASKED.replace("resp_1", randomBytes(190_000).toString("hex"));

const NO_MEMORY = "holdMemoryBytes: 1000";

/** An upstream whose answers, all masked, are as long as their request says. */
async function startSized(): Promise<Upstream> {
  return startUpstream(async ({ received, whole, write }) => {
    await whole;
    write(answer(received.target === "/verify?large" ? LARGE : MASKED));
  });
}

/** The open files of this process that hold an answer. */
function heldBy(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).includes(".held");
    } catch {
      // It was closed meanwhile.
      return false;
    }
  });
}

describe.runIf(process.platform === "linux").each(MODES)("in mode %s", (mode) => {
  const large = request("POST", "/verify?large", { body: "{}" });
  const small = request("POST", "/verify", { body: "{}" });

  async function expectRefused(url: string, why: string): Promise<void> {
    const reply = await rawRequest(url, large);
    expect(reply.complete).toBe(true);
    if (mode === "strict") {
      expect(reply.status).toBe(502);
      expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
      expect(reply.text).toContain(`the temporary folder cannot hold it (${why}`);
    } else {
      expect(reply.text === LARGE).toBe(true);
    }
  }

  // No file may be larger than 200 blocks, so the disk is full in the middle of an answer, whatever the size of a block.
  it("a disk that is full in the middle of an answer makes it a 502 where it is held, and the program goes on", async () => {
    const program = await startProgramInMode(mode, await startSized(), NO_MEMORY, {
      shell: "ulimit -f 200;",
    });
    for (let round = 0; round < 3; round += 1) {
      await expectRefused(program.url, "EFBIG");
      const reply = await rawRequest(program.url, small);
      expect(reply.status).toBe(mode === "strict" ? 503 : 200);
    }
    await eventually(() => expect(heldBy(program.child.pid!)).toEqual([]));
    program.child.kill("SIGTERM");
    expect((await program.finished).code).toBe(0);
  });

  it("a temporary folder that is gone does the same", async () => {
    const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
    closeLater(() => rmSync(folder, { recursive: true, force: true }));
    const program = await startProgramInMode(mode, await startSized(), NO_MEMORY, {
      env: { TMPDIR: folder },
    });
    const before = await rawRequest(program.url, large);
    expect(before.status).toBe(mode === "strict" ? 503 : 200);
    rmSync(folder, { recursive: true });
    for (let round = 0; round < 3; round += 1) await expectRefused(program.url, "ENOENT");
    const reply = await rawRequest(program.url, small);
    expect(reply.status).toBe(mode === "strict" ? 503 : 200);
  });
});
