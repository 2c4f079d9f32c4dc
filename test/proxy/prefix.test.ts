import { describe, expect, it } from "vitest";
import { endToEnd, type Field, valueOf } from "../helpers/http-bytes.js";
import { answer, chunk, MASKED, request } from "../helpers/messages.js";
import { startConfigured } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const STRICT = "routes: [{name: s, match: {pathPrefix: /strict}, mode: strict}]";

const routesOf = (mode: string): string =>
  `routes: [{name: s, match: {pathPrefix: /strict}, mode: ${mode}}]`;

const HOST: Field = ["Host", "gym.example:8123"];

// CLIENTS: httpx builds each of these from resources_url; headers of the task go with all of them.
const OF_VERIFIERS: readonly Field[] = [
  HOST,
  ["Accept", "*/*"],
  ["Accept-Encoding", "gzip, deflate"],
  ["User-Agent", "python-httpx/0.28.1"],
  ["Cookie", "Gym___gym=eyJzIjoxfQ==.abc.def"],
  ["X-Run", "42"],
];

describe.each(["strict", "observe", "passthrough"])("a prefix route (%s)", (mode) => {
  it.each([
    ["seed_session", "POST", "/seed_session"],
    ["a tool", "POST", "/get_weather"],
    ["a tool with an odd name", "POST", "/a%2Fb/{%22x%22}"],
    ["MCP by POST", "POST", "/mcp"],
    ["MCP's end", "DELETE", "/mcp"],
    ["verify", "POST", "/verify"],
    ["verify of a rollout", "POST", "/ng-rollout/7-0-a1/verify"],
    ["what asks whether somebody is there", "GET", "/"],
  ])("carries %s without the prefix, and nothing else changed", async (_, method, path) => {
    const upstream = await startUpstream(answer('{"ok":true}', { headers: [["X-A", "1"]] }));
    const proxy = await startConfigured(upstream, routesOf(mode));
    const parts = {
      headers: OF_VERIFIERS,
      ...(method === "POST" ? { body: `{"path":"${path}","n":1.0}` } : {}),
    };
    const direct = await rawRequest(upstream.url, request(method, path, parts));
    const reply = await rawRequest(proxy.url, request(method, `/strict${path}`, parts));
    const [one, other] = upstream.requests;
    expect(other?.line).toBe(`${method} ${path} HTTP/1.1`);
    expect(endToEnd(other?.fields ?? [])).toEqual(endToEnd(one?.fields ?? []));
    expect(other?.body).toEqual(one?.body);
    expect([reply.line, endToEnd(reply.fields), reply.text]).toEqual([
      direct.line,
      endToEnd(direct.fields),
      direct.text,
    ]);
  });

  it("carries MCP's event stream, its header at once and each event as it comes", async () => {
    const upstream = await startUpstream(({ write }) => {
      write(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
      );
    });
    const proxy = await startConfigured(upstream, routesOf(mode));
    const client = await openClient(proxy.url);
    client.write(request("GET", "/strict/mcp", { headers: [["Accept", "text/event-stream"]] }));
    const exchange = await upstream.arrived();
    expect(exchange.received.line).toBe("GET /mcp HTTP/1.1");
    await client.sees("text/event-stream");
    for (const event of ["data: 1\n\n", "data: 2\n\n"]) {
      exchange.write(chunk(event));
      await client.sees(event);
    }
  });
});

describe("the target of a request on a prefix route", () => {
  // A18. The first is what the client sends, the second what the server is asked for.
  it.each([
    ["/strict/verify", "/verify"],
    ["/strict/verify?", "/verify?"],
    ["/strict/verify?x=%2F&&", "/verify?x=%2F&&"],
    ["/strict", "/"],
    ["/strict/", "/"],
    ["/strict?x=1", "/?x=1"],
    ["/strict/?x=1", "/?x=1"],
    ["/strict//verify", "//verify"],
    ["/strict//10.0.0.1/t", "//10.0.0.1/t"],
    ["/strict/../verify", "/../verify"],
    ["/strict/./verify", "/./verify"],
    ["/strict/%2e%2e/verify", "/%2e%2e/verify"],
    ["/strict/x/../verify", "/x/../verify"],
    ["/strict/strict/verify", "/strict/verify"],
    ["/strict/a%2Fb", "/a%2Fb"],
    ['/strict/{"x"}', '/{"x"}'],
    ["/strict/t%00", "/t%00"],
    ["http://other.example/strict/verify", "http://other.example/verify"],
    ["http://other.example/strict", "http://other.example/"],
    ["HTTP://u@h:1/strict?x", "HTTP://u@h:1/?x"],
  ])("%s is %s", async (asked, target) => {
    const upstream = await startUpstream(answer("{}"));
    const proxy = await startConfigured(upstream, STRICT);
    expect((await rawRequest(proxy.url, request("GET", asked))).status).toBe(200);
    expect(upstream.requests.map(({ line }) => line)).toEqual([`GET ${target} HTTP/1.1`]);
  });

  it.each([
    "/strictly/verify",
    "/strict%2Fverify",
    "/Strict/verify",
    "/%73trict/verify",
    "//strict/verify",
    "/x/../strict/verify",
    "/x/strict/verify",
    "/?/strict/verify",
    "/strict;v=1/verify",
    "http://strict/verify",
    "*",
  ])("%s is not on the route, and untouched", async (target) => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startConfigured(upstream, STRICT);
    const reply = await rawRequest(proxy.url, request("OPTIONS", target));
    expect([reply.status, reply.text]).toEqual([200, MASKED]);
    expect(upstream.requests.map(({ line }) => line)).toEqual([`OPTIONS ${target} HTTP/1.1`]);
  });

  it.each([
    ["/strict/verify", 503],
    ["/strict/%76erify?x=1", 503],
    ["/strict/ng-rollout/7-0/verify", 503],
    ["http://other.example/strict/verify", 503],
    // A server answers these 404 or redirects; whatever it says passes.
    ["/strict//verify", 200],
    ["/strict/x/../verify", 200],
    ["/strict/strict/verify", 200],
    ["/strict/verify/", 200],
    ["/strict", 200],
    ["/verify", 200],
    ["/strictly/verify", 200],
    ["/strict%2Fverify", 200],
  ])("%s with a masked answer is a %i", async (target, status) => {
    const proxy = await startConfigured(await startUpstream(answer(MASKED)), STRICT);
    const reply = await rawRequest(proxy.url, request("POST", target, { body: "{}" }));
    expect(reply.status).toBe(status);
    if (status === 200) expect(reply.text).toBe(MASKED);
  });

  it("loses a prefix of several segments whole", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startConfigured(
      upstream,
      "routes: [{name: s, match: {pathPrefix: /a/b-c}, mode: strict}]",
    );
    for (const [asked, status] of [
      ["/a/b-c/verify", 503],
      ["/a/verify", 200],
      ["/a/b-cd/verify", 200],
    ] as const) {
      const reply = await rawRequest(proxy.url, request("POST", asked, { body: "{}" }));
      expect(reply.status, asked).toBe(status);
    }
    expect(upstream.requests.map(({ target }) => target)).toEqual([
      "/verify",
      "/a/verify",
      "/a/b-cd/verify",
    ]);
  });

  it("keeps the codings that can be read, on the verify request alone", async () => {
    const upstream = await startUpstream(answer("{}"));
    const proxy = await startConfigured(upstream, STRICT);
    const headers: Field[] = [["Accept-Encoding", "gzip, x-unknown"]];
    for (const target of ["/strict/verify", "/strict/tool"]) {
      await rawRequest(proxy.url, request("POST", target, { headers, body: "{}" }));
    }
    expect(upstream.requests.map(({ fields }) => valueOf(fields, "accept-encoding"))).toEqual([
      "gzip",
      "gzip, x-unknown",
    ]);
  });
});
