import { createServer } from "node:http";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { ask, askStatus, scrape } from "../helpers/admin.js";
import { runCli, startCli } from "../helpers/cli.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

const PLAIN = "admin: {port: 0}\nroutes: [{name: v, mode: strict}]";
const GUARDED = PLAIN.replace("port: 0", "port: 0, token: s3cret-token");

async function started(yaml = PLAIN, bytes = answer(MASKED)): Promise<Proxy> {
  return startConfigured(await startUpstream(bytes), yaml);
}

describe("the operators' listener", () => {
  it("is a server of its own: what clients ask for goes to the upstream", async () => {
    const proxy = await started();
    expect(proxy.gate.adminUrl).not.toBe(proxy.url);
    for (const path of ["/metrics", "/status", "/healthz", "/readyz", "/"]) {
      expect((await rawRequest(proxy.url, request("GET", path))).text).toBe(MASKED);
    }
    expect((await ask(proxy, "/verify", { method: "POST" })).status).toBe(404);
  });

  it("only reads", async () => {
    const proxy = await started();
    expect(await ask(proxy, "/status", { method: "POST" })).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD" },
    });
    expect((await ask(proxy, "/status", { method: "HEAD" })).text).toBe("");
    expect((await ask(proxy, "/nothing")).status).toBe(404);
  });

  it("forbids browsers to keep, guess, frame or load anything", async () => {
    const { headers } = await ask(await started(), "/");
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "content-security-policy": expect.stringContaining("default-src 'self'"),
      "x-content-type-options": "nosniff",
    });
  });

  it.each([
    ["/metrics", 401],
    ["/status", 401],
    ["/events", 401],
    ["/healthz", 200],
    ["/readyz", 200],
    ["/", 200],
  ])("with a token answers %s without one with %d", async (path, status) => {
    const proxy = await started(GUARDED);
    const reply = await ask(proxy, path);
    expect(reply.status).toBe(status);
    if (status === 401) expect(reply.headers["www-authenticate"]).toBe("Bearer");
    const headers = { authorization: "Bearer s3cret-tokem" };
    expect((await ask(proxy, path, { headers })).status).toBe(status);
  });

  it("answers who has the token", async () => {
    const headers = { authorization: "Bearer s3cret-token" };
    const proxy = await started(GUARDED);
    expect((await ask(proxy, "/metrics", { headers })).text).toContain("maskgate_build_info");
    expect((await ask(proxy, "/status", { headers })).status).toBe(200);
  });

  it.each([
    ["rebound.example", 421],
    ["rebound.example:9201", 421],
    ["localhost:9201", 200],
    ["127.0.0.1", 200],
    ["[::1]:9201", 200],
    ["10.1.2.3:9201", 200],
  ])("on loopback takes the name %s with %d", async (host, status) => {
    expect((await ask(await started(), "/status", { headers: { host } })).status).toBe(status);
  });

  it("is told of in the log where other machines reach it without a token, and nowhere else", async () => {
    const open = await started(PLAIN.replace("port: 0", "host: 0.0.0.0, port: 0"));
    expect(open.logged("exposed")).toEqual([
      expect.objectContaining({
        level: 40,
        url: open.gate.adminUrl,
        msg: expect.stringContaining("MASKGATE_ADMIN_TOKEN"),
      }),
    ]);
    const guarded = await started(GUARDED.replace("port: 0", "host: 0.0.0.0, port: 0"));
    const own = await started();
    expect([...guarded.logged("exposed"), ...own.logged("exposed")]).toEqual([]);
  });

  it("keeps its headers, sockets and numbers out of what clients get", async () => {
    const proxy = await started(PLAIN, answer(SCORED));
    const reply = await rawRequest(proxy.url, verify([["X-Request-Id", "7"]]));
    expect(reply.text).toBe(SCORED);
    expect(valuesOf(reply.fields, "x-request-id")).toEqual([]);
    expect((await askStatus(proxy)).inFlight).toBe(0);
  });

  it("ends with the proxy, readers of events too", async () => {
    const proxy = await started();
    const url = proxy.gate.adminUrl ?? "";
    const reader = await openClient(url);
    reader.write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await reader.sees("data: {");
    await proxy.close();
    await reader.incoming.ended;
    await expect(openClient(url)).rejects.toThrow("ECONNREFUSED");
  });

  it("makes the answer to a request only when those before it have theirs", async () => {
    const upstream = await startUpstream(answer("{}"));
    const proxy = await startConfigured(upstream, PLAIN);
    const url = proxy.gate.adminUrl ?? "";
    const reader = await openClient(url);
    const asks = ["/healthz", "/events", "/readyz"].map(
      (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    reader.write(asks.join(""));
    await reader.sees("data: {");
    for (let round = 0; round < 3; round += 1) await rawRequest(proxy.url, request("GET", "/x"));
    expect(upstream.requests.map(({ target }) => target)).toEqual(["/x", "/x", "/x"]);
  });
});

describe("/readyz", () => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  it.each([
    [404, 200],
    [500, 200],
    [502, 503],
    [503, 503],
  ])("takes an upstream that answers %d with %d", async (status, expected) => {
    const upstream = await startUpstream(answer("{}", { status, reason: "R" }));
    const proxy = await startConfigured(upstream, PLAIN);
    const { status: got, text } = await ask(proxy, "/readyz");
    expect([got, text]).toEqual([expected, `the upstream answers ${status}\n`]);
    expect((await ask(proxy, "/healthz")).status).toBe(200);
  });

  it("says that nobody listens, and finds an upstream that came up later", async () => {
    const port = await freePort();
    const proxy = await startConfigured(`http://127.0.0.1:${port}`, PLAIN);
    const { status, text } = await ask(proxy, "/readyz");
    expect([status, text]).toEqual([503, "the upstream does not answer: ECONNREFUSED\n"]);
    const server = createServer((_, reply) => reply.end("{}")).listen(port, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
    let now = 503;
    while (now !== 200) now = (await ask(proxy, "/readyz")).status;
    expect(now).toBe(200);
  });

  it("asks the upstream once for many that ask at once", async () => {
    const upstream = await startUpstream(answer("{}"));
    const proxy = await startConfigured(upstream, PLAIN);
    await Promise.all(Array.from({ length: 20 }, async () => ask(proxy, "/readyz")));
    expect(upstream.requests).toHaveLength(1);
  });

  it("is 503 while the proxy drains, and the metrics stay until the end", async () => {
    const upstream = await startUpstream(() => undefined);
    const proxy = await startConfigured(upstream, PLAIN);
    const client = await openClient(proxy.url);
    client.write(verify());
    const exchange = await upstream.arrived();
    const drained = proxy.gate.drain();
    expect(await ask(proxy, "/readyz")).toMatchObject({
      status: 503,
      text: expect.stringContaining("draining"),
    });
    expect((await scrape(proxy)).get("maskgate_draining")).toBe(1);
    exchange.write(answer(SCORED));
    await drained;
    expect((await client.reply("POST")).text).toBe(SCORED);
  });
});

describe("maskgate serve --admin-port", () => {
  it("says where operators reach it", async () => {
    const upstream = await startUpstream(answer("{}"));
    const running = startCli(["serve", upstream.url, "--port", "0", "--admin-port", "0"]);
    const line = await running.event("listening");
    const url = String(line["adminUrl"]);
    expect(line["msg"]).toContain(url);
    expect((await ask({ gate: { adminUrl: url } }, "/healthz")).text).toBe("ok\n");
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
  });

  it("exits 2 for a port that is taken or that clients come in by", async () => {
    const upstream = await startUpstream(answer("{}"));
    const port = String(upstream.port);
    const [taken, same] = await Promise.all([
      runCli(["serve", upstream.url, "--port", "0", "--admin-port", port]),
      runCli(["serve", upstream.url, "--port", "9555", "--admin-port", "9555"]),
    ]);
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining("--admin-port") });
    expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("clients come in by") });
  });
});
