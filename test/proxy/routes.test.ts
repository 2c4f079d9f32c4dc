import { describe, expect, it } from "vitest";
import { endToEnd, type Field } from "../helpers/http-bytes.js";
import { answer, MASKED, request, verify } from "../helpers/messages.js";
import { startConfigured } from "../helpers/proxy.js";
import { rawRequest, type Reply } from "../helpers/raw-client.js";
import { freePort, startUpstream, type Upstream } from "../helpers/upstream.js";

const ANSWER = answer(MASKED, {
  headers: [
    ["date", "Mon, 30 Nov 2026 00:00:00 GMT"],
    ["server", "uvicorn"],
    ["X-MixedCase", "1"],
    ["Vary", "Cookie"],
    ["vary", "Accept"],
    ["ETag", '"1"'],
    ["set-cookie", "Gym___gym=eyJzIjoxfQ==.abc.def; path=/; Max-Age=1209600; httponly"],
  ],
});

const GYM: Field = ["User-Agent", "Python/3.12 aiohttp/3.14.5"];
const HTTPX: Field = ["User-Agent", "python-httpx/0.28.1"];

/** What a client sees of a reply, but for the connection it came over. */
function seen({ line, fields, text }: Reply): unknown {
  return { line, fields: endToEnd(fields), text };
}

/** Which route took a masked verify: each strict route of these tests has a status of its own. */
async function takes(url: string, headers: readonly Field[], target = "/verify"): Promise<number> {
  const bytes = request("POST", target, { headers, body: "{}" });
  return (await rawRequest(url, bytes)).status;
}

/** Sends the bytes past the proxy and through it, and holds what either side saw of the other to be the same. */
async function expectUnchanged(upstream: Upstream, url: string, bytes: Uint8Array): Promise<void> {
  const direct = await rawRequest(upstream.url, bytes);
  const reply = await rawRequest(url, bytes);
  expect(seen(reply)).toEqual(seen(direct));
  const [one, other] = upstream.requests.slice(-2);
  expect(other?.line).toBe(one?.line);
  expect(endToEnd(other?.fields ?? [])).toEqual(endToEnd(one?.fields ?? []));
  expect(other?.body).toEqual(one?.body);
}

const BY_HEADER = `
routes:
  - {name: exact, match: {header: {X-Client: canary}}, mode: strict, status: 501}
  - {name: pattern, match: {header: {x-client: {matches: "run-[0-9]+"}}}, mode: strict, status: 502}
  - {name: both, match: {header: {x-a: "1", x-b: "2"}}, mode: strict, status: 504}
`;

describe("a route by header", () => {
  it.each<[string, Field[], number]>([
    ["its value", [["x-client", "canary"]], 501],
    ["another case of its name", [["X-CLIENT", "canary"]], 501],
    ["white space around its value", [["x-client", "\t canary "]], 501],
    ["its pattern", [["x-client", "run-7"]], 502],
    [
      "both headers of another",
      [
        ["x-b", "2"],
        ["x-a", "1"],
      ],
      504,
    ],
  ])("takes a request with %s", async (_, headers, status) => {
    const proxy = await startConfigured(await startUpstream(ANSWER), BY_HEADER);
    expect(await takes(proxy.url, headers)).toBe(status);
  });

  // A27: a value that is a name of every object is a value like any other.
  it.each<[string, Field[]]>([
    ["without it", []],
    ["with another case of its value", [["x-client", "Canary"]]],
    ["with an empty value", [["x-client", ""]]],
    ["with a longer value", [["x-client", "canary2"]]],
    ["with more than its pattern", [["x-client", "xrun-7"]]],
    ["with its pattern in a list", [["x-client", "run-7, run-8"]]],
    [
      "with it doubled",
      [
        ["x-client", "canary"],
        ["x-client", "canary"],
      ],
    ],
    [
      "with it doubled in two cases of its name",
      [
        ["x-client", "canary"],
        ["X-Client", "other"],
      ],
    ],
    ["with one header of two", [["x-a", "1"]]],
    ["with __proto__", [["x-client", "__proto__"]]],
    ["with constructor", [["x-client", "constructor"]]],
    ["with toString", [["x-client", "toString"]]],
    ["with a header of the name __proto__", [["__proto__", "canary"]]],
  ])("leaves a request %s to passthrough, unchanged", async (_, headers) => {
    const upstream = await startUpstream(ANSWER);
    const proxy = await startConfigured(upstream, BY_HEADER);
    await expectUnchanged(upstream, proxy.url, verify([GYM, ...headers]));
  });

  it("takes a value that is a name of every object where it is asked for", async () => {
    const proxy = await startConfigured(
      await startUpstream(ANSWER),
      `routes: [{name: a, match: {header: {x-client: __proto__}}, mode: strict},
        {name: b, match: {header: {constructor: toString}}, mode: strict, status: 424}]`,
    );
    expect(await takes(proxy.url, [["x-client", "__proto__"]])).toBe(503);
    expect(await takes(proxy.url, [["Constructor", "toString"]])).toBe(424);
    expect(await takes(proxy.url, [["x-client", "constructor"]])).toBe(200);
  });
});

describe("a route by user agent", () => {
  const yaml = `routes: [{name: verifiers, match: {userAgent: "python-httpx/.*"}, mode: strict}]`;

  it("takes what its pattern matches whole", async () => {
    const proxy = await startConfigured(await startUpstream(ANSWER), yaml);
    expect(await takes(proxy.url, [HTTPX])).toBe(503);
  });

  it.each<[string, Field[]]>([
    ["Gym's client", [GYM]],
    ["no user agent", []],
    ["a longer one", [["User-Agent", "x python-httpx/0.28.1"]]],
    ["the other library of verifiers", [["User-Agent", "python-httpx2/2.16.2"]]],
    ["two of them", [HTTPX, HTTPX]],
    ["__proto__", [["User-Agent", "__proto__"]]],
  ])("leaves %s to passthrough, unchanged", async (_, headers) => {
    const upstream = await startUpstream(ANSWER);
    const proxy = await startConfigured(upstream, yaml);
    await expectUnchanged(upstream, proxy.url, verify(headers));
  });
});

describe("a route by port", () => {
  it("takes what comes in by it, and by no other listener", async () => {
    const upstream = await startUpstream(ANSWER);
    const [one, two] = [await freePort(), await freePort()];
    const proxy = await startConfigured(
      upstream,
      `listen: [{port: ${one}}, {port: ${two}}]
routes: [{name: second, match: {port: ${two}}, mode: strict}]`,
    );
    expect(proxy.urls).toEqual([`http://127.0.0.1:${one}`, `http://127.0.0.1:${two}`]);
    expect(await takes(proxy.urls[1]!, [HTTPX])).toBe(503);
    await expectUnchanged(upstream, proxy.urls[0]!, verify([HTTPX]));
    // A Host of the other listener changes nothing.
    await expectUnchanged(upstream, proxy.urls[0]!, verify([["Host", `127.0.0.1:${two}`]]));
  });

  it("may be chosen by the system, for every listener", async () => {
    const proxy = await startConfigured(
      await startUpstream(ANSWER),
      "listen: [{port: 0}, {port: 0}]\nroutes: [{name: all, mode: strict}]",
    );
    expect(new Set(proxy.urls).size).toBe(2);
    for (const url of proxy.urls) expect(await takes(url, [])).toBe(503);
    await proxy.close();
    for (const url of proxy.urls) await expect(rawRequest(url, verify())).rejects.toThrow();
  });
});

describe("routes", () => {
  it("are tried in written order, and the first that matches wins", async () => {
    const routes = [
      "{name: narrow, match: {pathPrefix: /a, header: {x: y}}, mode: strict, status: 501}",
      "{name: gym, match: {userAgent: 'Python/.*'}, mode: passthrough}",
      "{name: wide, match: {header: {x: y}}, mode: strict, status: 502}",
      "{name: prefix, match: {pathPrefix: /a}, mode: strict, status: 504}",
    ];
    const upstream = await startUpstream(ANSWER);
    const proxy = await startConfigured(upstream, `routes: [${routes.join(", ")}]`);
    const x: Field = ["x", "y"];
    expect(await takes(proxy.url, [x], "/a/verify")).toBe(501);
    expect(await takes(proxy.url, [x, GYM], "/a/verify")).toBe(501);
    expect(await takes(proxy.url, [x, GYM])).toBe(200);
    expect(await takes(proxy.url, [x])).toBe(502);
    expect(await takes(proxy.url, [], "/a/verify")).toBe(504);
    await expectUnchanged(upstream, proxy.url, verify([x, GYM]));
  });

  it("hold only when all of their conditions do", async () => {
    const port = await freePort();
    const proxy = await startConfigured(
      await startUpstream(ANSWER),
      `listen: [{port: ${port}}, {port: 0}]
routes:
  - name: all
    match: {port: ${port}, pathPrefix: /v, header: {x-run: {matches: "canary-[0-9]+"}}, userAgent: "python-httpx/.*"}
    mode: strict`,
    );
    const [here, there] = proxy.urls as [string, string];
    const run: Field = ["x-run", "canary-1"];
    expect(await takes(here, [HTTPX, run], "/v/verify")).toBe(503);
    expect(await takes(there, [HTTPX, run], "/v/verify")).toBe(200);
    expect(await takes(here, [HTTPX, run])).toBe(200);
    expect(await takes(here, [HTTPX], "/v/verify")).toBe(200);
    expect(await takes(here, [GYM, run], "/v/verify")).toBe(200);
  });

  it.each(["", "routes: []"])("that are none leave everybody to passthrough (%j)", async (yaml) => {
    const upstream = await startUpstream(ANSWER);
    const proxy = await startConfigured(upstream, yaml);
    for (const client of [GYM, HTTPX]) await expectUnchanged(upstream, proxy.url, verify([client]));
  });

  it("take a mask only where the server says it, not under __proto__", async () => {
    const body = '{"__proto__":{"mask_sample":true},"constructor":{"mask_sample":true},"reward":0}';
    const proxy = await startConfigured(
      await startUpstream(answer(body)),
      "routes: [{name: all, mode: strict}]",
    );
    const reply = await rawRequest(proxy.url, verify());
    expect([reply.status, reply.text]).toEqual([200, body]);
  });
});
