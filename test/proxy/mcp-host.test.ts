import { describe, expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, request, verify } from "../helpers/messages.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startProxy } from "../helpers/proxy.js";
import { startUpstream } from "../helpers/upstream.js";

/** An MCP server that guards against DNS rebinding: 421 unless it knows the Host. */
async function guarded(known: RegExp): Promise<string> {
  const upstream = await startUpstream(async ({ received, whole, write }) => {
    await whole;
    const [host = ""] = valuesOf(received.fields, "host");
    const { fields } = received;
    const own = fields.filter(([name]) => /^(host|x-forwarded-|forwarded|via)/i.test(name));
    const parts = known.test(host) ? {} : { status: 421, reason: "Misdirected Request" };
    write(answer(JSON.stringify(own), parts));
  });
  return (await startProxy(upstream)).url;
}

const mcp = (host: string): Buffer =>
  request("POST", "/mcp", { headers: [["Host", host]], body: "{}" });

// A14: the client's Host goes on, nothing beside it, and a 421 comes back as it is.
describe("the Host of a request", () => {
  it.each(["gym.example:8123", "GYM.example:8123", "127.0.0.1:9", "[::1]:80", "localhost"])(
    "goes on as it is: %s",
    async (host) => {
      const reply = await rawRequest(await guarded(/./), mcp(host));
      expect(JSON.parse(reply.text)).toEqual([["Host", host]]);
    },
  );

  it("that the server does not know comes back as the server's own 421", async () => {
    const url = await guarded(/^127\.0\.0\.1:\d+$/);
    const reply = await rawRequest(url, mcp("gym.example:8123"));
    expect(reply.line).toBe("HTTP/1.1 421 Misdirected Request");
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual([]);
    expect((await rawRequest(url, mcp("127.0.0.1:9"))).status).toBe(200);
  });

  it("is kept for a verify too", async () => {
    const reply = await rawRequest(await guarded(/./), verify([["Host", "a.b:1"]]));
    expect(JSON.parse(reply.text)).toEqual([["Host", "a.b:1"]]);
  });
});
