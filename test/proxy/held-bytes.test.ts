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

/** So large unpacked, a few hundred bytes packed. */
const packed = (text: string): Buffer =>
  answer(gzipSync(text.padEnd(SIZE)), { headers: [["Content-Encoding", "gzip"]] });

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
    const upstream = await startUpstream(({ received, write }) => {
      if (received.method === "POST") write(packed(MASKED));
    });
    const proxy = await startConfigured(upstream, ROUTES);
    const client = await openClient(proxy.url);
    const slow = request("GET", "/slow");
    client.write(Buffer.concat([slow, request("POST", "/null/verify", { body: "{}" })]));
    await proxy.nextLog("translated");
    expect(await held(proxy)).toBeGreaterThanOrEqual(SIZE);
    const { write } = await upstream.arrived(1);
    write(answer("done"));
    expect((await client.reply()).text).toBe("done");
    expect((await client.reply("POST")).body.length).toBe(SIZE - 1 + 4 - 2);
    await nothingIsHeld(proxy);
  });

  it("do not count as held while the packed ones are sent", async () => {
    const upstream = await startUpstream(({ received, write }) => {
      if (received.method === "POST") write(packed(SCORED));
    });
    const proxy = await startConfigured(upstream, ROUTES);
    const client = await openClient(proxy.url);
    const slow = request("GET", "/slow");
    client.write(Buffer.concat([slow, request("POST", "/verify", { body: "{}" })]));
    await eventually(async () => {
      const samples = await scrape(proxy);
      const judged = [...samples].filter(([name]) => /answers_total.*scored/.test(name));
      expect(judged.map(([, count]) => count)).toContain(1);
    });
    const now = await held(proxy);
    expect(now).toBeGreaterThan(0);
    expect(now).toBeLessThan(SIZE);
    (await upstream.arrived(1)).write(answer("done"));
    await client.reply();
    expect((await client.reply("POST")).status).toBe(200);
  });
});
