import { describe, expect, it } from "vitest";
import { endToEnd, type Field, valuesOf } from "../helpers/http-bytes.js";
import { answer, chunk, request } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache, no-transform\r\n" +
  "MCP-session-ID: s1\r\nTransfer-Encoding: chunked\r\n\r\n";

const ASKING: readonly Field[] = [
  ["Accept", "application/json, text/event-stream"],
  ["mCp-Session-Id", "s1"],
  ["LAST-Event-ID", "41"],
  ["Accept-Encoding", "gzip, x-unknown"],
];

// A15: header and events leave as they come; nothing of it is waited for by time, only by arrival.
describe.each([true, false])("with strict mode %s", (maskedAsError) => {
  it.each([
    ["GET", request("GET", "/mcp", { headers: ASKING })],
    ["POST", request("POST", "/mcp", { headers: ASKING, body: '{"method":"tools/call"}' })],
  ])(
    "passes the header of a silent stream and each event of %s /mcp at once",
    async (method, bytes) => {
      const upstream = await startUpstream(() => undefined);
      const proxy = await startProxy(upstream, { maskedAsError });
      const client = await openClient(proxy.url);
      client.write(bytes);
      const exchange = await upstream.arrived();
      await exchange.whole;
      expect(endToEnd(exchange.received.fields).slice(1, 5)).toEqual(ASKING);
      exchange.write(HEAD);
      await client.sees("MCP-session-ID: s1\r\n");
      await client.sees("\r\n\r\n");
      for (const event of ["event: message\ndata: 1\n\n", ": ping\n\n", "data: 3\n\n"]) {
        exchange.write(chunk(event));
        await client.sees(event);
      }
      exchange.write("0\r\n\r\n");
      const reply = await client.reply(method);
      expect(reply.text).toBe("event: message\ndata: 1\n\n: ping\n\ndata: 3\n\n");
      expect(valuesOf(reply.fields, "content-encoding")).toEqual([]);
      expect(endToEnd(reply.fields)).toEqual([
        ["content-type", "text/event-stream"],
        ["cache-control", "no-cache, no-transform"],
        ["MCP-session-ID", "s1"],
      ]);
    },
  );

  it("passes DELETE /mcp with its session", async () => {
    const upstream = await startUpstream("HTTP/1.1 204 No Content\r\n\r\n");
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    client.write(request("DELETE", "/mcp", { headers: ASKING }));
    expect((await client.reply("DELETE")).status).toBe(204);
    const [received] = upstream.requests;
    expect(valuesOf(received?.fields ?? [], "mcp-session-id")).toEqual(["s1"]);
    client.write(request("GET", "/"));
    expect((await client.reply()).status).toBe(204);
  });

  it("breaks off a stream that the upstream breaks off, silent or not", async () => {
    for (const events of ["", chunk("data: 1\n\n")]) {
      const upstream = await startUpstream(() => undefined);
      const proxy = await startProxy(upstream, { maskedAsError });
      const client = await openClient(proxy.url);
      client.write(request("GET", "/mcp", { headers: ASKING }));
      const exchange = await upstream.arrived();
      exchange.write(HEAD);
      exchange.write(events);
      await client.sees("\r\n\r\n");
      exchange.end();
      const reply = await client.reply();
      expect(reply.complete).toBe(false);
    }
  });

  it("tells the upstream when the client of a silent stream leaves", async () => {
    const upstream = await startUpstream(({ write }) => write(HEAD));
    const proxy = await startProxy(upstream, { maskedAsError });
    const client = await openClient(proxy.url);
    client.write(request("GET", "/mcp", { headers: ASKING }));
    await client.sees("\r\n\r\n");
    client.destroy();
    await (
      await upstream.arrived()
    ).gone;
    await upstream.quiet();
  });
});

it("keeps a connection that is closed by the length of its stream usable", async () => {
  const upstream = await startUpstream(
    answer("data: 1\n\n", { headers: [["Content-Type", "text/event-stream"]] }),
  );
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  for (let round = 0; round < 3; round += 1) {
    client.write(request("GET", "/mcp"));
    expect((await client.reply()).text).toBe("data: 1\n\n");
  }
});
