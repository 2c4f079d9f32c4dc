import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer, type RawData } from "ws";
import { closeLater } from "../helpers/closing.js";
import { endToEnd, type Field, valuesOf } from "../helpers/http-bytes.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, MASKED, request } from "../helpers/messages.js";
import { startConfigured } from "../helpers/proxy.js";
import { rawRequest, type Reply } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const routesOf = (mode: string): string =>
  `routes: [{name: s, match: {pathPrefix: /strict}, mode: ${mode}}]`;

const HOST = "gym.example:8123";

async function redirected(
  mode: string,
  location: string,
  target = "/strict/verify/",
  host = HOST,
): Promise<Reply> {
  const upstream = await startUpstream(
    answer("", { status: 307, reason: "Temporary Redirect", headers: [["Location", location]] }),
  );
  const proxy = await startConfigured(upstream, routesOf(mode));
  return rawRequest(proxy.url, request("POST", target, { headers: [["Host", host]], body: "{}" }));
}

// A19: Starlette answers /verify/ with an absolute 307 made from Host. What stands second leads back to the route.
const OWN = [
  [`http://${HOST}/verify`, `http://${HOST}/strict/verify`],
  [`https://${HOST}/mcp?x=%2F`, `https://${HOST}/strict/mcp?x=%2F`],
  [`HTTP://GYM.example:8123/verify`, `HTTP://GYM.example:8123/strict/verify`],
  [`http://${HOST}`, `http://${HOST}/strict`],
  [`http://${HOST}?x`, `http://${HOST}/strict?x`],
  [`//${HOST}/verify`, `//${HOST}/strict/verify`],
  ["/verify", "/strict/verify"],
  ["/", "/strict/"],
  ["/strict/verify", "/strict/strict/verify"],
  ["/a%2Fb?x=/y#z", "/strict/a%2Fb?x=/y#z"],
] as const;

const OTHERS = [
  "http://other.example/verify",
  "http://gym.example:9/verify",
  `http://${HOST}.evil.example/verify`,
  "//other.example/verify",
  // Relative to the path that the client asked for, which has the prefix.
  "verify",
  "?x=1",
  "",
];

describe.each(["strict", "observe"])("a Location on a prefix route (%s)", (mode) => {
  it.each(OWN)("of this host, %s, gets the prefix back", async (location, restored) => {
    const reply = await redirected(mode, location);
    expect(reply.line).toBe("HTTP/1.1 307 Temporary Redirect");
    expect(endToEnd(reply.fields)).toEqual([
      ["Location", restored],
      ["content-type", "application/json"],
      ["content-length", "0"],
    ]);
  });

  it.each(OTHERS)("of another host or of no root, %s, is untouched", async (location) => {
    const reply = await redirected(mode, location);
    expect(valuesOf(reply.fields, "location")).toEqual([location]);
  });

  it.each([
    ["/../verify", "/strict/verify"],
    ["/x/../../verify", "/strict/verify"],
    ["/%2e%2E/verify", "/strict/verify"],
    [`http://${HOST}/../verify`, `http://${HOST}/strict/verify`],
    ["/./../", "/strict/"],
    ["/a/..", "/strict/"],
    ["/..?x=/../y", "/strict/?x=/../y"],
    ["../verify", "/strict/verify"],
    ["../../verify?x", "/strict/verify?x"],
    ["..", "/strict/"],
  ])("that climbs, %s, does not lead around the route", async (location, restored) => {
    const reply = await redirected(mode, location, "/strict/verify");
    expect(valuesOf(reply.fields, "location")).toEqual([restored]);
  });

  it.each([
    ["gym.example", "http://gym.example:80/verify", "http://gym.example:80/strict/verify"],
    ["gym.example:80", "http://gym.example/verify", "http://gym.example/strict/verify"],
    ["gym.example:443", "https://gym.example/verify", "https://gym.example/strict/verify"],
  ])("of Host %s is known with and without the usual port", async (host, location, restored) => {
    const reply = await redirected(mode, location, "/strict/verify/", host);
    expect(valuesOf(reply.fields, "location")).toEqual([restored]);
  });
});

it.each([...OWN.map(([location]) => location), ...OTHERS, "/../verify"])(
  "a Location on a passthrough prefix route, %s, is untouched",
  async (location) => {
    const reply = await redirected("passthrough", location);
    expect(valuesOf(reply.fields, "location")).toEqual([location]);
  },
);

it("gives the prefix back on the error for a masked answer as well", async () => {
  const upstream = await startUpstream(answer(MASKED, { headers: [["Location", "/verify"]] }));
  const proxy = await startConfigured(upstream, routesOf("strict"));
  const reply = await rawRequest(proxy.url, request("POST", "/strict/verify", { body: "{}" }));
  expect([reply.status, valuesOf(reply.fields, "location")]).toEqual([503, ["/strict/verify"]]);
});

describe.each(["strict", "observe", "passthrough"])("an upgrade on a prefix route (%s)", (mode) => {
  it("reaches the upstream without the prefix", async () => {
    const upstream = await startHttpUpstream((_request, reply) => void reply.end());
    const sockets = new WebSocketServer({ server: upstream.server });
    sockets.on("connection", (socket, { url }) => {
      socket.on("message", (data) => socket.send(`${url} ${(data as Buffer).toString()}`));
    });
    closeLater(() => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    });
    const proxy = await startConfigured(upstream.url, routesOf(mode));
    const socket = new WebSocket(`${proxy.url.replace("http", "ws")}/strict/ws/%2F?x=1&&`);
    closeLater(() => socket.terminate());
    await once(socket, "open");
    socket.send("hello");
    const [text] = (await once(socket, "message")) as [RawData];
    expect((text as Buffer).toString()).toBe("/ws/%2F?x=1&& hello");
  });

  it("that is declined with a redirect does not lead around the route", async () => {
    const asking: Field[] = [
      ["Host", HOST],
      ["Connection", "Upgrade"],
      ["Upgrade", "websocket"],
      ["Sec-WebSocket-Version", "13"],
      ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ];
    const location = `http://${HOST}/ws/`;
    const upstream = await startUpstream(
      answer("", { status: 307, reason: "Away", headers: [["Location", location]] }),
    );
    const proxy = await startConfigured(upstream, routesOf(mode));
    const reply = await rawRequest(proxy.url, request("GET", "/strict/ws", { headers: asking }));
    expect(reply.line).toBe("HTTP/1.1 307 Away");
    expect(valuesOf(reply.fields, "location")).toEqual([
      mode === "passthrough" ? location : `http://${HOST}/strict/ws/`,
    ]);
  });
});
