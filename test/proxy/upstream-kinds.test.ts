import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream, type Upstream } from "../helpers/upstream.js";

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const server = createServer()
    .once("error", () => resolve(false))
    .listen(0, "::1", () => server.close(() => resolve(true)));
});

// A28: the forms of an upstream's address.
describe.each(MODES)("an upstream, in mode %s,", (mode) => {
  async function expectServed(url: string, upstream: Upstream): Promise<void> {
    const proxy = await startInMode(mode, url);
    const reply = await rawRequest(proxy.url, verify());
    expect(reply.status).toBe(mode === "strict" ? 503 : 200);
    expect(valuesOf(upstream.requests[0]?.fields ?? [], "host")).toEqual(["gym.example:8123"]);
  }

  it("called localhost is found where only 127.0.0.1 listens", async () => {
    const upstream = await startUpstream(answer(MASKED));
    await expectServed(`http://localhost:${upstream.port}`, upstream);
  });

  it.runIf(hasIpv6)("is found at [::1]", async () => {
    const upstream = await startUpstream(answer(MASKED), { host: "::1" });
    await expectServed(`http://[::1]:${upstream.port}`, upstream);
  });

  it("is found at 127.0.0.1, with a slash behind it too", async () => {
    const upstream = await startUpstream(answer(MASKED));
    await expectServed(`${upstream.url}/`, upstream);
  });

  it.each(["unix:", "unix://"])("is found behind %s and a path", async (scheme) => {
    const folder = await mkdtemp(join(tmpdir(), "maskgate-"));
    closeLater(async () => rm(folder, { recursive: true }));
    const path = join(folder, "g.sock");
    const upstream = await startUpstream(answer(MASKED), { path });
    await expectServed(`${scheme}${path}`, upstream);
  });
});

describe("an upstream", () => {
  it.each([
    "http://127.0.0.1:9100/verify",
    "http://127.0.0.1:9100//",
    "http://127.0.0.1:9100/?x=1",
    "http://127.0.0.1:9100/#x",
    "http://user:secret@127.0.0.1:9100",
    "ftp://127.0.0.1:9100",
    "127.0.0.1:9100",
    "localhost:9100",
    "http://",
    "http://127.0.0.1:99999",
    "unix:relative.sock",
    "unix:",
    "",
  ])("is refused at start with a sentence: %j", async (url) => {
    const error: unknown = await startProxy(url).then(
      () => "started",
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    expect((error as Error).message).toMatch(/^[^\n]{20,}$/);
    expect((error as Error).message).not.toContain("secret");
  });
});

it("goes on without a word when the upstream's socket file comes back", async () => {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-"));
  closeLater(async () => rm(folder, { recursive: true }));
  const path = join(folder, "g.sock");
  const proxy = await startProxy(`unix:${path}`);
  const waiting = rawRequest(proxy.url, verify());
  const upstream = await startUpstream(answer(MASKED), { path });
  expect((await waiting).status).toBe(503);
  expect(upstream.requests).toHaveLength(1);
});
