import { mkdtemp, open, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { SpillFile } from "../../../src/proxy/spill.js";

vi.mock(import("node:fs/promises"), async (load) => {
  const real = await load();
  return { ...real, open: vi.fn(real.open), unlink: vi.fn(real.unlink) };
});

it("a temporary file whose name cannot be removed is closed, and the answer refused", async () => {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-unlink-"));
  vi.stubEnv("TMPDIR", folder);
  try {
    vi.mocked(unlink).mockRejectedValueOnce(new Error("EPERM: operation not permitted"));
    const refused = { code: "HOLD_FAILED", message: expect.stringContaining("EPERM") as string };
    await expect(SpillFile.open()).rejects.toMatchObject(refused);
    const [opened] = vi.mocked(open).mock.results;
    expect((await opened?.value)?.fd).toBe(-1);
  } finally {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  }
});
