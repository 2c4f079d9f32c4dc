import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { startCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { pem, startTlsUpstream, tlsFile } from "../helpers/tls.js";
import { freePort } from "../helpers/upstream.js";

const CA = `upstreamCa: ${tlsFile("ca.pem")}`;

describe.each(MODES)("an https upstream with a certificate of a private authority (%s)", (mode) => {
  it("is reached when upstreamCa names it, by name and by address, whatever Host the client sends", async () => {
    const { url, port } = await startTlsUpstream("first", (asked, reply) => {
      asked.resume();
      reply.end(asked.headers.host === "masked" ? MASKED : SCORED);
    });
    for (const upstream of [url, `https://127.0.0.1:${port}`]) {
      const proxy = await startInMode(mode, upstream, CA);
      for (const [host, text] of [
        ["gym.example:8123", SCORED],
        ["other.example", SCORED],
        ["127.0.0.1:1", SCORED],
        ["masked", MASKED],
      ] as const) {
        const reply = await rawRequest(proxy.url, verify([["Host", host]]));
        if (mode === "strict" && text === MASKED) expect(reply.status).toBe(503);
        else expect(reply.text).toBe(text);
      }
    }
  });

  it.each([
    ["of an authority that nobody named", "first", "", "upstreamCa"],
    ["that it signed itself", "stranger", CA, "self-signed"],
    ["for another name", "other", CA, "other.example"],
  ])("is a 502 in plain words with a certificate %s", async (_, name, more, word) => {
    let asked = 0;
    const upstream = await startTlsUpstream(name, (_request, reply) => {
      asked += 1;
      reply.end(SCORED);
    });
    const proxy = await startInMode(mode, upstream.url, more);
    // The name in a client's Host counts for nothing.
    const reply = await rawRequest(proxy.url, verify([["Host", "other.example"]]));
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
    const { detail } = JSON.parse(reply.text) as { detail: string };
    expect(detail).toMatch(
      /^the certificate of the upstream https:\/\/localhost:\d+ was refused: /,
    );
    expect(detail).toContain(word);
    expect(asked).toBe(0);
  });
});

it("carries a WebSocket to an https upstream of a private authority", async () => {
  const { url, server } = await startTlsUpstream("first", (_, reply) => reply.end());
  const sockets = new WebSocketServer({ server });
  closeLater(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(data)));
  const proxy = await startInMode("strict", url, CA);
  const socket = new WebSocket(proxy.url.replace("http", "ws"), { headers: { host: "x.example" } });
  const echoed = await new Promise<string>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("open", () => socket.send("hello"));
    socket.once("message", (data) => resolve((data as Buffer).toString()));
  });
  expect(echoed).toBe("hello");
  socket.terminate();
});

it("is a 502 where an http server is behind https, and where a client speaks TLS to no TLS", async () => {
  const { port } = await startTlsUpstream("first", (_, reply) => reply.end("{}"));
  const wrong = await startProxy(`http://127.0.0.1:${port}`);
  expect((await rawRequest(wrong.url, request("GET", "/"))).status).toBeGreaterThanOrEqual(400);
  const client = await openClient(wrong.url);
  client.write("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
  await client.incoming.ended;
});

describe("maskgate run", () => {
  const runBefore = (url: string, command: readonly string[]) =>
    startCli(
      ["run", "--port", "0", "--upstream", url, "--upstream-ca", tlsFile("ca.pem"), "--"].concat(
        command,
      ),
    );

  it("listens when an https server with a certificate of a private authority answers", async () => {
    const identity = JSON.stringify({ cert: pem("first.pem"), key: pem("first-key.pem") });
    const port = await freePort();
    const source = `require("https").createServer(${identity}, (_, reply) => reply.end("{}")).listen(${port}, "127.0.0.1")`;
    const run = runBefore(`https://localhost:${port}`, [process.execPath, "-e", source]);
    const { url } = await run.event("listening");
    expect((await rawRequest(String(url), request("GET", "/"))).text).toBe("{}");
    run.child.kill("SIGTERM");
    await run.finished;
  });

  it("starts nothing where such a server is there already", async () => {
    const { url } = await startTlsUpstream("first", (_, reply) => reply.end("{}"));
    const { code, stderr } = await runBefore(url, ["sleep", "60"]).finished;
    expect(stderr).toContain("something already answers on");
    expect(code).toBe(2);
  });
});

it.each([
  [
    "that is not there",
    "/nowhere/ca.pem",
    /^upstreamCa: cannot be read \(ENOENT.*\), found "\/nowhere\/ca\.pem"$/,
  ],
  [
    "without a certificate",
    tlsFile("first-key.pem"),
    /^upstreamCa: no certificate in PEM form, found /,
  ],
])("does not start with an upstreamCa %s", async (_, file, says) => {
  await expect(startInMode("strict", "https://localhost:9", `upstreamCa: ${file}`)).rejects.toThrow(
    says,
  );
});
