import dns from "node:dns";
import { afterEach, expect, it, vi } from "vitest";
import { deferred } from "../helpers/deferred.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { configOf, startConfigured } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { tlsFile } from "../helpers/tls.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

afterEach(() => {
  vi.restoreAllMocks();
});

const STRICT = "routes: [{name: all, mode: strict}]";

it("a new listener has the new routes from its first request on", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const proxy = await startConfigured(upstream, "routes: []");
  const [one, two] = [await freePort(), await freePort()];
  const asked = deferred();
  const resolved = deferred();
  const lookup = dns.lookup;
  // The second listener opens late, because its name takes a while.
  vi.spyOn(dns, "lookup").mockImplementation((...args: Parameters<typeof lookup>) => {
    if (args[0] !== "localhost") {
      lookup(...args);
      return;
    }
    asked.resolve();
    void resolved.promise.then(() => lookup(...args));
  });
  const next = configOf(
    upstream,
    `listen: [{port: ${one}}, {host: localhost, port: ${two}}]\n${STRICT}`,
  );
  const applying = proxy.gate.apply(next);
  await asked.promise;
  expect((await rawRequest(`http://127.0.0.1:${one}`, verify())).status).toBe(503);
  // Nothing has changed for the others yet.
  expect((await rawRequest(proxy.url, verify())).status).toBe(200);
  resolved.resolve();
  await applying;
  expect((await rawRequest(`http://127.0.0.1:${one}`, verify())).status).toBe(503);
  await expect(openClient(proxy.url)).rejects.toThrow("ECONNREFUSED");
});

it.each(["close", "drain"] as const)(
  "a proxy that is told to %s opens nothing any more",
  async (how) => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startConfigured(upstream, STRICT);
    const port = await freePort();
    const applying = proxy.gate.apply(configOf(upstream, `listen: {port: ${port}}\n${STRICT}`));
    await proxy.gate[how]();
    await applying;
    await expect(openClient(`http://127.0.0.1:${port}`)).rejects.toThrow("ECONNREFUSED");
    await expect(openClient(proxy.url)).rejects.toThrow("ECONNREFUSED");
  },
);

it("a listener that cannot be had changes nothing, and leaves none of the others open", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const proxy = await startConfigured(upstream, "routes: []");
  const port = await freePort();
  const wanted = `listen: [{port: ${port}}, {port: ${upstream.port}}]\n${STRICT}`;
  // The upstream's own port is taken; the file itself would be refused for it.
  const next = configOf("http://127.0.0.1:1", wanted);
  await expect(proxy.gate.apply(next)).rejects.toMatchObject({ code: "LISTEN_FAILED" });
  await expect(openClient(`http://127.0.0.1:${port}`)).rejects.toThrow("ECONNREFUSED");
  expect((await rawRequest(proxy.url, verify())).text).toBe(MASKED);
});

it.each([
  ["its host", (port: number) => `{host: 0.0.0.0, port: ${port}}`],
  [
    "its TLS",
    (port: number) =>
      `{port: ${port}, tls: {cert: "${tlsFile("first.pem")}", key: "${tlsFile("first-key.pem")}"}}`,
  ],
])("a listener that changes %s keeps its port until a restart, and says so", async (_, listen) => {
  const upstream = await startUpstream(answer(MASKED));
  const port = await freePort();
  const proxy = await startConfigured(upstream, `listen: {port: ${port}}\nroutes: []`);
  const next = configOf(upstream, `listen: ${listen(port)}\n${STRICT}`);
  await expect(proxy.gate.apply(next)).rejects.toMatchObject({
    code: "LISTEN_FAILED",
    message: expect.stringMatching(
      /^cannot listen on [\d.]+:\d+: maskgate has this port already, at 127\.0\.0\.1.*restart maskgate$/,
    ) as string,
  });
  expect((await rawRequest(proxy.url, verify())).text).toBe(MASKED);
});

it("several listeners of the system's choice stay what they are", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const two = "listen: [{port: 0}, {port: 0}]\n";
  const proxy = await startConfigured(upstream, `${two}routes: []`);
  const before = proxy.urls;
  await proxy.gate.apply(configOf(upstream, `${two}${STRICT}`));
  expect(proxy.urls).toEqual(before);
  for (const url of before) expect((await rawRequest(url, verify())).status).toBe(503);
  await proxy.gate.apply(configOf(upstream, STRICT));
  expect(proxy.urls).toEqual(before.slice(0, 1));
  await expect(openClient(before[1]!)).rejects.toThrow("ECONNREFUSED");
});
