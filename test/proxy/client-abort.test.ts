import { describe, expect, it } from "vitest";
import { answer, chunk, MASKED, request, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient, rawRequest, type RawClient } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

const LEAVING: readonly (readonly [string, (client: RawClient) => void])[] = [
  ["a FIN", (client) => client.destroy()],
  ["a reset", (client) => client.reset()],
];

const half = request("POST", "/verify", { headers: [["Content-Length", "1000"]] });
const halfChunked = request("POST", "/verify", { headers: [["Transfer-Encoding", "chunked"]] });
const SSE =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

// A07: verifiers stops waiting after 60 s; the judge behind must stop too.
describe.each(LEAVING)("a client that leaves by %s", (_, leave) => {
  const MOMENTS: readonly (readonly [title: string, bytes: Buffer, written: string])[] = [
    ["while its verify is scored", verify(), ""],
    ["in the middle of its upload", Buffer.concat([half, Buffer.from("x")]), ""],
    ["in the middle of a chunked upload", Buffer.concat([halfChunked, chunk("x")]), ""],
    ["on a silent event stream", request("GET", "/mcp"), SSE],
    ["in the middle of its answer", verify(), answer(MASKED, { length: false }).toString("latin1")],
    [
      "in the middle of another answer",
      request("GET", "/x"),
      "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc",
    ],
  ];

  it.each(MODES.flatMap((mode) => MOMENTS.map((moment) => [mode, ...moment] as const)))(
    "(%s) %s is seen by the upstream",
    async (mode, _title, bytes, written) => {
      const upstream = await startUpstream(({ write }) => write(written));
      const proxy = await startInMode(mode, upstream);
      const client = await openClient(proxy.url);
      client.write(bytes);
      const { gone, flushed } = await upstream.arrived();
      await flushed();
      // A strict route holds the answer to a verify.
      if (written !== "" && (mode !== "strict" || bytes.toString().startsWith("GET"))) {
        await client.sees("\r\n\r\n");
      }
      leave(client);
      await gone;
      await upstream.quiet();
      const line = await proxy.nextLog("client_gone");
      expect(line).toMatchObject({ level: 20, status: 499 });
      expect(proxy.logs.filter(({ level }) => Number(level) > 30)).toEqual([]);
      expect(upstream.requests).toHaveLength(1);
    },
  );

  it("leaves nothing open after 100 rounds", async () => {
    const upstream = await startUpstream(({ received, write }) => {
      if (received.target === "/done") write(answer("{}"));
    });
    const proxy = await startProxy(upstream);
    await rawRequest(proxy.url, request("GET", "/done", { headers: [["Connection", "close"]] }));
    upstream.dropIdle();
    await upstream.quiet();
    const sockets = (): number =>
      process.getActiveResourcesInfo().filter((name) => /TCPSocketWrap|TCPWrap/.test(name)).length;
    const before = sockets();
    for (let round = 0; round < 100; round += 1) {
      const client = await openClient(proxy.url);
      client.write(verify());
      const { gone } = await upstream.arrived(round + 2);
      leave(client);
      await gone;
    }
    await upstream.quiet();
    await proxy.nextLog("client_gone", 100);
    expect(sockets()).toBeLessThanOrEqual(before);
    expect(upstream.open).toBe(0);
  });
});

it.each(MODES)(
  "ends the upstream's work for a client that only closes its sending side (%s)",
  async (mode) => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    client.write(verify());
    const { gone } = await upstream.arrived();
    client.end();
    await gone;
  },
);

it("does not deliver a verify whose client left while the upstream was down", async () => {
  const port = await freePort();
  const proxy = await startProxy(`http://127.0.0.1:${port}`);
  const [first, second] = [await openClient(proxy.url), await openClient(proxy.url)];
  first.write(request("POST", "/verify?first", { body: "{}" }));
  first.destroy();
  await proxy.nextLog("client_gone");
  second.write(request("POST", "/verify?second", { body: "{}" }));
  const upstream = await startUpstream(answer("{}"), { port });
  expect((await second.reply("POST")).status).toBe(200);
  expect(upstream.requests.map(({ target }) => target)).toEqual(["/verify?second"]);
});

it("goes on with the others when one of two clients leaves", async () => {
  const upstream = await startUpstream(() => undefined);
  const proxy = await startProxy(upstream);
  const [leaving, staying] = [await openClient(proxy.url), await openClient(proxy.url)];
  leaving.write(verify());
  const one = await upstream.arrived(1);
  staying.write(verify());
  const two = await upstream.arrived(2);
  leaving.reset();
  await one.gone;
  two.write(answer("{}"));
  expect((await staying.reply("POST")).text).toBe("{}");
});
