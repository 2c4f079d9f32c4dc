import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { scrape } from "../helpers/admin.js";
import { answer, MASKED, request, SCORED } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const ROUTES = `
admin: {port: 0}
routes:
  - {name: look, match: {pathPrefix: /look}, mode: observe}
  - {name: drop, match: {pathPrefix: /null}, mode: strict, translation: null}
  - {name: strict, mode: strict}
`;

const SIZE = 300_000;

/** So large unpacked, a few hundred bytes packed. */
const packed = (text: string): Buffer =>
  answer(gzipSync(text.padEnd(SIZE)), { headers: [["Content-Encoding", "gzip"]] });

const held = async (proxy: Proxy): Promise<number | undefined> =>
  (await scrape(proxy)).get("maskgate_held_bytes");

const nothingIsHeld = async (proxy: Proxy): Promise<void> =>
  vi.waitFor(async () => expect(await held(proxy)).toBe(0));

describe("the plain bytes of a packed answer", () => {
  it.each(["/look", "/null", ""])("are given back after it (%s)", async (prefix) => {
    for (const text of [MASKED, SCORED]) {
      const proxy = await startConfigured(await startUpstream(packed(text)), ROUTES);
      await rawRequest(proxy.url, request("POST", `${prefix}/verify`, { body: "{}" }));
      await nothingIsHeld(proxy);
    }
  });
});
