import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { describe, expect, it } from "vitest";
import { startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { Incoming } from "../helpers/connection.js";
import {
  answer,
  chunkedAnswer,
  MASKED,
  request,
  SCORED,
  verify,
  WEBSOCKET,
} from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { pem, tlsFile } from "../helpers/tls.js";
import { startUpstream, type Upstream } from "../helpers/upstream.js";

const listen = (cert: string, key: string): string =>
  `listen: {port: 0, tls: {cert: "${cert}", key: "${key}"}}\nroutes: [{name: all, mode: strict}]`;

const YAML = listen(tlsFile("first.pem"), tlsFile("first-key.pem"));

/** What a TLS client of the test authority gets for a verify. */
async function ask(
  url: string,
  headers = {},
): Promise<{ status: number; phrase: string; text: string }> {
  const asked = https.request(`${url.replace("127.0.0.1", "localhost")}/verify`, {
    method: "POST",
    ca: pem("ca.pem"),
    agent: false,
    headers,
  });
  asked.end("{}");
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve);
    asked.once("error", reject);
  });
  let text = "";
  for await (const part of reply) text += String(part);
  return { status: reply.statusCode ?? 0, phrase: reply.statusMessage ?? "", text };
}

/** The name in the certificate that is shown to a new client. */
async function shownName(url: string): Promise<string> {
  const socket = tls.connect({
    port: Number(new URL(url).port),
    ca: pem("ca.pem"),
    servername: "localhost",
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

async function stage(
  script: Parameters<typeof startUpstream>[0],
): Promise<{ upstream: Upstream; proxy: Proxy }> {
  const upstream = await startUpstream(script);
  return { upstream, proxy: await startConfigured(upstream, YAML) };
}

describe("a listener with a certificate", () => {
  it("serves and judges over TLS, and says so in its url", async () => {
    const { proxy } = await stage(answer(MASKED));
    expect(proxy.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const reply = await ask(proxy.url);
    expect(reply).toMatchObject({ status: 503, phrase: "Masked: judge_failed: the judge is gone" });
  });

  it("serves an offer to upgrade that the server ignores", async () => {
    const { upstream, proxy } = await stage(answer(SCORED));
    const headers = {
      connection: "upgrade, http2-settings",
      upgrade: "h2c",
      "http2-settings": "x",
    };
    expect((await ask(proxy.url, headers)).text).toBe(SCORED);
    expect(upstream.requests).toHaveLength(1);
  });

  it("ends a client that speaks no TLS, and goes on", async () => {
    const { upstream, proxy } = await stage(answer(SCORED));
    const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(verify());
    await new Promise((resolve) => {
      socket.once("close", resolve);
      socket.resume();
    });
    expect(upstream.requests).toEqual([]);
    expect((await ask(proxy.url)).text).toBe(SCORED);
  });

  it.each([
    ["with a length", request("GET", "/x"), answer("x".repeat(1000))],
    ["without one", request("GET", "/x", { version: "1.0" }), chunkedAnswer(["x".repeat(1000)])],
    [
      "to an upgrade that is declined",
      request("GET", "/x", { headers: WEBSOCKET }),
      answer("x".repeat(1000), { status: 403 }),
    ],
  ])("breaks off an answer %s that is cut short, and goes on", async (_, asks, bytes) => {
    const { upstream, proxy } = await stage(() => undefined);
    const { port } = new URL(proxy.url);
    const client = tls.connect({ port: Number(port), ca: pem("ca.pem"), servername: "localhost" });
    closeLater(() => void client.destroy());
    const broken = new Promise((resolve) => client.once("error", resolve));
    client.write(asks);
    const { write, end } = await upstream.arrived(1);
    write(bytes.subarray(0, -100));
    for await (const part of client.iterator({ destroyOnReturn: false })) {
      if (String(part).includes("xxx")) break;
    }
    client.resume();
    end();
    expect(await broken).toMatchObject({ code: "ECONNRESET" });
    const next = ask(proxy.url);
    (await upstream.arrived(2)).write(answer(SCORED));
    expect((await next).text).toBe(SCORED);
  });

  it("takes an upload behind a reply that its client has not read yet", async () => {
    const [large, upload] = ["x".repeat(20_000_000), "y".repeat(100_000)];
    const { upstream, proxy } = await stage(async ({ whole, write }) => {
      const { method } = await whole;
      write(answer(method === "GET" ? large : SCORED));
    });
    const { port } = new URL(proxy.url);
    const client = tls.connect({ port: Number(port), ca: pem("ca.pem"), servername: "localhost" });
    closeLater(() => void client.destroy());
    const incoming = new Incoming(client);
    client.write(request("GET", "/x"));
    await incoming.until(() => incoming.length > 0 || undefined);
    client.pause();
    for (let round = 0; round < 20; round += 1) await ask(proxy.url);
    client.write(request("POST", "/verify", { body: upload }));
    for (let round = 0; round < 20; round += 1) await ask(proxy.url);
    client.resume();
    const expected = Buffer.concat([answer(large), answer(SCORED)]);
    await incoming.until(
      () => incoming.ending ?? (incoming.length >= expected.length || undefined),
    );
    expect(incoming.bytes.equals(expected)).toBe(true);
    expect(upstream.requests.at(-1)?.body.toString()).toBe(upload);
  });

  it("drains with clients that shook no hands, or asked nothing", async () => {
    const { proxy } = await stage(answer(SCORED));
    const port = Number(new URL(proxy.url).port);
    const silent = connect(port, "127.0.0.1");
    const shaken = tls.connect({ port, ca: pem("ca.pem"), servername: "localhost" });
    for (const socket of [silent, shaken]) socket.on("error", () => undefined);
    await new Promise((resolve) => shaken.once("secureConnect", resolve));
    expect((await ask(proxy.url)).text).toBe(SCORED);
    await proxy.gate.drain();
  });

  it("shows a new certificate when the files change, and the former one while they do not fit", async () => {
    const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
    closeLater(() => rmSync(folder, { recursive: true, force: true }));
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    copyFileSync(tlsFile("first.pem"), cert);
    copyFileSync(tlsFile("first-key.pem"), key);
    const upstream = await startUpstream(answer(SCORED));
    const proxy = await startConfigured(upstream, listen(cert, key));
    expect(await shownName(proxy.url)).toBe("first");
    writeFileSync(cert, pem("second.pem"));
    expect(await proxy.nextLog("certificate_refused")).toMatchObject({ level: 50 });
    expect(await shownName(proxy.url)).toBe("first");
    writeFileSync(key, pem("second-key.pem"));
    await proxy.nextLog("certificate_applied");
    expect(await shownName(proxy.url)).toBe("second");
    expect((await ask(proxy.url)).text).toBe(SCORED);
  });

  it.each([
    [
      "that is not there",
      "/nowhere.pem",
      tlsFile("first-key.pem"),
      /^listen\.tls\.cert: cannot be read \(ENOENT/,
    ],
    [
      "of another key",
      tlsFile("first.pem"),
      tlsFile("second-key.pem"),
      /^listen\.tls: cannot be used \(.*key/i,
    ],
  ])("does not start with a certificate %s", async (_, cert, key, says) => {
    await expect(startConfigured("http://127.0.0.1:9", listen(cert, key))).rejects.toThrow(says);
  });
});

describe("the log", () => {
  it("warns of a listener that other machines reach, and of no other", async () => {
    const open = await startConfigured("http://127.0.0.1:9", "listen: {host: 0.0.0.0, port: 0}");
    const [line] = open.logged("exposed");
    expect(line).toMatchObject({ level: 40, url: open.url });
    const closed = await startConfigured(
      "http://127.0.0.1:9",
      "listen: {host: localhost, port: 0}",
    );
    expect(closed.logged("exposed")).toEqual([]);
  });

  it("names the file in one sentence, with exit code 2, where a certificate cannot be used", async () => {
    const running = startCli([
      "serve",
      "https://localhost:9",
      "--upstream-ca",
      "/nowhere.pem",
      "--port",
      "0",
    ]);
    const { code, stderr } = await running.finished;
    expect(code).toBe(2);
    expect(stderr).toMatch(/^maskgate: upstreamCa: cannot be read .*"\/nowhere\.pem"\n$/);
  });
});
