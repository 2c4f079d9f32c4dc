import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ConfigInput, type Loaded, loadConfig } from "../../../src/config/load.js";
import { ProxyError } from "../../../src/errors.js";
import { closeLater } from "../../helpers/closing.js";

const UPSTREAM = "http://127.0.0.1:9100";

async function fileWith(text: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-config-"));
  closeLater(async () => rm(folder, { recursive: true }));
  const file = join(folder, "maskgate.yaml");
  await writeFile(file, text);
  return file;
}

async function load(text: string, more: ConfigInput = {}): Promise<Loaded> {
  return loadConfig({ ...more, file: await fileWith(text) });
}

async function refusal(loading: Promise<unknown>): Promise<string[]> {
  const error = await loading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProxyError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.code).toBe("CONFIG_INVALID");
  return error.message.split("\n").map((line) => line.trim());
}

describe("the defaults", () => {
  it("change nothing: one loopback port and no route at all", async () => {
    const { config, sources, file } = await loadConfig({ flags: { upstream: UPSTREAM } });
    expect(config).toEqual({
      upstream: { url: UPSTREAM, secure: false, connect: { host: "127.0.0.1", port: 9100 } },
      listen: [{ host: "127.0.0.1", port: 9200 }],
      routes: [],
      verifyPaths: ["/verify"],
      connectRetryMs: 30_000,
      upstreamTimeoutMs: 0,
      maxAnswerBytes: 268_435_456,
      holdMemoryBytes: 268_435_456,
      drainMs: 600_000,
      logLevel: "info",
      workers: 1,
      admin: undefined,
      alert: { maskedShare: 0.5, minAnswers: 50, windowMs: 300_000, webhook: undefined },
      audit: undefined,
    });
    expect(new Set(Object.values(sources))).toEqual(new Set(["argument", "default"]));
    expect(file).toBeUndefined();
  });

  it("of a route are the error for everybody", async () => {
    const { config } = await load(`{upstream: ${UPSTREAM}, routes: [{name: all, mode: strict}]}`);
    expect(config.routes).toEqual([
      {
        name: "all",
        match: {},
        mode: "strict",
        translation: "error",
        status: 503,
        ramp: { percentage: 100, by: "task", salt: "all" },
        only: undefined,
        except: [],
        signals: [],
      },
    ]);
  });
});

describe("a file", () => {
  it("gives every condition, pattern and glob as what the proxy compares with", async () => {
    const { config } = await load(`
upstream: ${UPSTREAM}
listen: {port: 9300}
routes:
  - name: v
    match:
      port: 9300
      pathPrefix: /v
      header: {X-Client: canary, constructor: toString, x-run: {matches: "a|b"}}
      userAgent: python-httpx/.*
    mode: strict
    translation: null
    only: [provider_*, a.b?]
    signals: [{member: failure_reason, matches: "^session .* not found$"}]
`);
    expect(config.listen).toEqual([{ host: "127.0.0.1", port: 9300 }]);
    const [route] = config.routes;
    expect(route?.translation).toBe("null");
    expect(route?.match).toEqual({
      port: 9300,
      pathPrefix: "/v",
      header: new Map<string, unknown>([
        ["x-client", "canary"],
        ["constructor", "toString"],
        ["x-run", /^(?:a|b)$/u],
      ]),
      userAgent: /^(?:python-httpx\/.*)$/u,
    });
    const [provider, dotted] = route?.only ?? [];
    expect(["provider_", "provider_x\ny", "a_provider_x"].map((k) => provider?.test(k))).toEqual([
      true,
      true,
      false,
    ]);
    expect(["a.bc", "a.b", "axbc"].map((k) => dotted?.test(k))).toEqual([true, false, false]);
    expect(route?.signals).toEqual([
      { member: "failure_reason", matches: /^session .* not found$/u },
    ]);
  });

  it("is frozen all the way down once it is read", async () => {
    const { config } = await load(
      `{upstream: ${UPSTREAM}, routes: [{name: a, mode: strict, match: {header: {x: {matches: y}}}}]}`,
    );
    const header = config.routes[0]?.match.header as Map<string, string>;
    expect(() => header.set("x", "z")).toThrow(TypeError);
    expect(() => header.clear()).toThrow(TypeError);
    expect(() => header.delete("x")).toThrow(TypeError);
    expect(Object.isFrozen(config.routes[0]?.ramp)).toBe(true);
    expect(Object.isFrozen(config.upstream.connect)).toBe(true);
    expect(config.routes[0]?.match.header?.get("x")).toEqual(/^(?:y)$/u);
  });

  it("may be JSON, empty, or begin with a byte order mark", async () => {
    const json = JSON.stringify({ upstream: UPSTREAM, drainMs: 1 }, null, 2);
    expect((await load(json)).config.drainMs).toBe(1);
    expect((await load("", { flags: { upstream: UPSTREAM } })).config.routes).toEqual([]);
    expect((await load(`\uFEFFupstream: ${UPSTREAM}`)).config.upstream.url).toBe(UPSTREAM);
  });

  it("may use anchors", async () => {
    const { config } = await load(
      `{upstream: ${UPSTREAM}, routes: [{name: a, mode: strict, match: {pathPrefix: /a}, ramp: &r {percentage: 5}}, {name: b, mode: strict, ramp: *r}]}`,
    );
    expect(config.routes.map(({ ramp }) => ramp)).toEqual([
      { percentage: 5, by: "task", salt: "a" },
      { percentage: 5, by: "task", salt: "b" },
    ]);
  });

  it("that cannot be read is named with what named it", async () => {
    const [byFlag] = await refusal(loadConfig({ file: "/nowhere/x.yaml" }));
    expect(byFlag).toMatch(/^--config: cannot be read \(ENOENT.*found "\/nowhere\/x.yaml"/);
    const [byVariable] = await refusal(
      loadConfig({ env: { MASKGATE_CONFIG: await fileWith(new Uint8Array([0xff, 0xfe, 0x61])) } }),
    );
    expect(byVariable).toMatch(/^MASKGATE_CONFIG: cannot be read \(.*utf-8/);
  });
});

describe("flags, environment and file", () => {
  const text = `{upstream: "http://127.0.0.1:11", listen: [{port: 1}, {port: 2}], drainMs: 3, logLevel: warn}`;

  it("win in this order, and each value says what gave it", async () => {
    const file = await fileWith(text);
    const { config, sources } = await loadConfig({
      file,
      flags: { upstream: "http://127.0.0.1:5", host: "::1", drainMs: "5" },
      env: {
        MASKGATE_UPSTREAM: "http://127.0.0.1:4",
        MASKGATE_PORT: "0",
        MASKGATE_DRAIN_MS: "4",
        MASKGATE_CONNECT_RETRY_MS: "44",
        MASKGATE_LOG_LEVEL: "",
        PATH: "/bin",
      },
    });
    expect(config).toMatchObject({
      upstream: { url: "http://127.0.0.1:5" },
      listen: [{ host: "::1", port: 0 }],
      drainMs: 5,
      connectRetryMs: 44,
      logLevel: "warn",
    });
    expect(sources).toEqual({
      upstream: "argument",
      listen: "--host, MASKGATE_PORT",
      drainMs: "--drain-ms",
      connectRetryMs: "MASKGATE_CONNECT_RETRY_MS",
      logLevel: `${file} line 1`,
      routes: "default",
      verifyPaths: "default",
      upstreamTimeoutMs: "default",
      maxAnswerBytes: "default",
      holdMemoryBytes: "default",
      workers: "default",
      upstreamCa: "default",
      admin: "default",
      alert: "default",
      audit: "default",
    });
  });

  it("find the file that MASKGATE_CONFIG names, unless another one is given", async () => {
    const [one, other] = [
      await fileWith(text),
      await fileWith(text.replace("drainMs: 3", "drainMs: 7")),
    ];
    const env = { MASKGATE_CONFIG: one };
    expect(await loadConfig({ env })).toMatchObject({ file: one, config: { drainMs: 3 } });
    expect(await loadConfig({ env, file: other })).toMatchObject({
      file: other,
      config: { drainMs: 7 },
    });
  });

  it.each([
    ["the flag", { flags: { upstream: UPSTREAM, maskedAsError: true } }, "--masked-as-error"],
    [
      "the variable",
      { flags: { upstream: UPSTREAM }, env: { MASKGATE_MASKED_AS_ERROR: "True" } },
      "MASKGATE_MASKED_AS_ERROR",
    ],
  ])("make one strict route of masked-as-error: %s", async (_name, input, source) => {
    const { config, sources } = await loadConfig(input);
    expect(config.routes).toMatchObject([{ name: "default", match: {}, mode: "strict" }]);
    expect(sources.routes).toBe(source);
  });

  it("leave a variable that says false without effect", async () => {
    const { config } = await loadConfig({
      flags: { upstream: UPSTREAM },
      env: { MASKGATE_MASKED_AS_ERROR: "0" },
    });
    expect(config.routes).toEqual([]);
  });

  it("ignore what Kubernetes sets for a Service called maskgate", async () => {
    const { config } = await loadConfig({
      flags: { upstream: UPSTREAM },
      env: {
        MASKGATE_PORT: "tcp://10.0.0.1:9200",
        MASKGATE_SERVICE_HOST: "10.0.0.1",
        MASKGATE_SERVICE_PORT_HTTP: "9200",
        MASKGATE_PORT_9200_TCP_ADDR: "10.0.0.1",
        MASKGATE_CANARY_PORT_9200_TCP: "tcp://10.0.0.2:9200",
      },
    });
    expect(config.listen).toEqual([{ host: "127.0.0.1", port: 9200 }]);
  });

  it.each([
    [
      "a number that is none",
      { MASKGATE_PORT: "http" },
      /^MASKGATE_PORT: not a number, found "http", allowed a whole number from 0 to 65535$/,
    ],
    ["a port out of range", { MASKGATE_PORT: "65536" }, /^MASKGATE_PORT: too large, found 65536/],
    [
      "a misspelt level",
      { MASKGATE_LOG_LEVEL: "inof" },
      /^MASKGATE_LOG_LEVEL: .* did you mean "info"\?$/,
    ],
    [
      "a misspelt name",
      { MASKGATE_UPSTRAEM: "x" },
      /^MASKGATE_UPSTRAEM: unknown variable.* did you mean MASKGATE_UPSTREAM\?$/,
    ],
    [
      "a truth that is none",
      { MASKGATE_MASKED_AS_ERROR: "maybe" },
      /^MASKGATE_MASKED_AS_ERROR: neither true nor false, found "maybe"/,
    ],
  ])("refuse a variable with %s", async (_name, env, expected) => {
    expect(await refusal(loadConfig({ flags: { upstream: UPSTREAM }, env }))).toEqual([
      expect.stringMatching(expected),
    ]);
  });

  it("refuse flags by their names, all at once", async () => {
    const flags = { upstream: "localhost:9100", port: "1.5", logLevel: "loud", drainMs: "-1" };
    expect(await refusal(loadConfig({ flags }))).toEqual([
      "4 problems in the configuration:",
      expect.stringMatching(
        /^upstream: it must be http:\/\/HOST:PORT.*found "localhost:9100"; did you mean "http:\/\/localhost:9100"\?$/,
      ),
      expect.stringMatching(/^--port: not a whole number, found 1.5, allowed/),
      expect.stringMatching(/^--drain-ms: too small, found -1, allowed/),
      expect.stringMatching(/^--log-level: not one of the choices, found "loud", allowed trace/),
    ]);
  });

  it("say how to give an upstream that is nowhere", async () => {
    expect(await refusal(loadConfig({}))).toEqual([
      "upstream: missing, allowed http://HOST:PORT, https://HOST:PORT or unix:/PATH/TO.sock; give it as the argument, as MASKGATE_UPSTREAM or as upstream in the file",
    ]);
  });
});
