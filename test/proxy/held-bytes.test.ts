import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { scrape } from "../helpers/admin.js";
import { eventually } from "../helpers/eventually.js";
import { answer, MASKED, request, SCORED } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const ROUTES = `
admin: {port: 0}
routes:
  - {name: look, match: {pathPrefix: /look}, mode: observe}
  - {name: drop, match: {pathPrefix: /null}, mode: strict, translation: null}
  - {name: strict, mode: strict}
`;

const SIZE = 300_000;

/** More than the system takes for a client that does not read. */
const LARGE = 20_000_000;

/** So large unpacked, a few hundred bytes packed. */
const packed = (text: string, size = SIZE): Buffer =>
  answer(gzipSync(text.padEnd(size)), { headers: [["Content-Encoding", "gzip"]] });

const held = async (proxy: Proxy): Promise<number | undefined> =>
  (await scrape(proxy)).get("maskgate_held_bytes");

const nothingIsHeld = async (proxy: Proxy): Promise<void> =>
  eventually(async () => expect(await held(proxy)).toBe(0));

describe("the plain bytes of a packed answer", () => {
  it.each(["/look", "/null", ""])("are given back after it (%s)", async (prefix) => {
    for (const text of [MASKED, SCORED]) {
      const proxy = await startConfigured(await startUpstream(packed(text)), ROUTES);
      await rawRequest(proxy.url, request("POST", `${prefix}/verify`, { body: "{}" }));
      await nothingIsHeld(proxy);
    }
  });

  it("count as held until the spliced ones have been sent", async () => {
    const proxy = await startConfigured(await startUpstream(packed(MASKED, LARGE)), ROUTES);
    const client = await openClient(proxy.url);
    client.stall();
    client.write(request("POST", "/null/verify", { body: "{}" }));
    await client.sees("200 OK");
    expect(await held(proxy)).toBeGreaterThanOrEqual(LARGE);
    client.resume();
    expect((await client.reply("POST")).body.length).toBe(LARGE - 1 + 4 - 2);
    await nothingIsHeld(proxy);
  });

  it("do not count as held while the packed ones are sent", async () => {
    const noise = `{"noise":"${randomBytes(LARGE / 2).toString("hex")}",${SCORED.slice(1)}`;
    const proxy = await startConfigured(await startUpstream(packed(noise)), ROUTES);
    const client = await openClient(proxy.url);
    client.stall();
    client.write(request("POST", "/verify", { body: "{}" }));
    await client.sees("200 OK");
    const now = await held(proxy);
    expect(now).toBeGreaterThan(0);
    expect(now).toBeLessThan(LARGE);
    client.resume();
    expect((await client.reply("POST")).status).toBe(200);
  });
});
