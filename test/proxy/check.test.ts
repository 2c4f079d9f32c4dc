import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { probe } from "../../src/cli/probe.js";
import { explainSample, type Sample, type SampleFlags } from "../../src/cli/sample.js";
import { loadConfig } from "../../src/config/load.js";
import { parseUpstream } from "../../src/config/upstream.js";
import { runCli } from "../helpers/cli.js";
import { closeLater } from "../helpers/closing.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

const ROUTES = `
listen: [{port: 9200}, {port: 9201}]
routes:
  - name: verifiers
    match: {pathPrefix: /verifiers}
    mode: strict
    ramp: {percentage: 25, salt: run-42}
    except: [agent_timeout]
  - name: canary
    match: {port: 9201, header: {x-client: canary, authorization: s3cret}}
    mode: observe
  - name: httpx
    match: {userAgent: "python-httpx/.*"}
    mode: strict
    translation: null
`;

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-check-"));
  closeLater(async () => rm(folder, { recursive: true }));
  const file = join(folder, "maskgate.yaml");
  await writeFile(file, text);
  return file;
}

/** A server with the paths of a Gym resources server, as far as GET shows them (recorded: example_single_tool_call). */
async function startGym(): Promise<string> {
  const { url } = await startHttpUpstream((request, reply) => {
    reply.setHeader("server", "uvicorn");
    reply.statusCode = request.url === "/verify" ? 405 : request.url === "/" ? 200 : 404;
    reply.end();
  });
  return url;
}

describe("maskgate check", () => {
  it("prints each value with its source, the routes, the upstream and the route of a sample", async () => {
    const url = await startGym();
    const file = await fileWith(`upstream: ${url}${ROUTES}`);
    const { code, stdout, stderr } = await runCli([
      "check",
      ...["--config", file, "--drain-ms", "5", "--path", "/verifiers/verify"],
    ]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const lines = stdout.split("\n").map((line) => line.trim().replace(/ {2,}/g, " | "));
    expect(lines).toContain(`upstream | ${url} | (${file} line 1)`.replace(/ {2,}/g, " | "));
    expect(lines).toContain("drainMs | 5 | (--drain-ms)");
    expect(lines).toContain("connectRetryMs | 30000 | (default)");
    expect(lines).toContain(
      "1. verifiers: strict for pathPrefix /verifiers; translation error; status 503; ramp percentage 25 by task salt run-42; except agent_timeout",
    );
    expect(lines).toContain("4. everything else: passthrough");
    expect(stdout).toMatch(/ answers GET \/ with 200 after [\d.]+ ms \(server: uvicorn\)/);
    expect(stdout).toContain("/verify is there");
    expect(lines).toContain("1. verifiers: takes it");
    expect(lines).toContain("the upstream is asked for /verify, which is a verify request");
    expect(stdout).not.toContain("s3cret");
  });

  it("prints the same for programs with --json", async () => {
    const url = await startGym();
    const args = ["check", url, "--masked-as-error", "--json", "--user-agent", "python-httpx/0.28"];
    const { code, stdout } = await runCli(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      config: { upstream: url, routes: [{ name: "default", mode: "strict" }] },
      sources: { upstream: "argument", routes: "--masked-as-error", listen: "default" },
      upstream: {
        reachable: true,
        status: 200,
        server: "uvicorn",
        verifyPaths: [{ path: "/verify", status: 405, known: true }],
      },
      sample: { route: "default", isVerify: true, target: "/verify", steps: [{ name: "default" }] },
    });
  });

  it("prints nothing of the server's that a terminal obeys", async () => {
    const { url } = await startUpstream(
      "HTTP/1.1 200 OK\r\nServer: \u009b2Jx\r\nContent-Length: 0\r\n\r\n",
    );
    const { stdout } = await runCli(["check", url]);
    expect(stdout).toContain("(server: ");
    expect(stdout).not.toContain("\u009b");
  });

  it("ends with 1 when the upstream does not answer, and says so", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout } = await runCli(["check", url]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/ does not answer: .*ECONNREFUSED/);
    expect(stdout).toMatch(/start the resources server there, .*upstream is from argument/);
  });

  it("warns of what was most likely not meant", async () => {
    const file = await fileWith(
      "upstream: http://127.0.0.1:9\nroutes: [{name: a, mode: strict, ramp: {percentage: 0.5}}]",
    );
    const { stdout } = await runCli(["check", "-c", file]);
    expect(stdout).toMatch(/^ {2}warning: route a: percentage 0\.5 /m);
  });

  it("ends with 2 and every problem of the file", async () => {
    const file = await fileWith("stict: true\nroutes: [{name: a, mode: strickt}]");
    const { code, stdout, stderr } = await runCli(["check", "--config", file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("3 problems in the configuration:\n");
    expect(stderr).toContain("\n  stict: unknown key");
    expect(stderr).toContain('\n  routes[0].mode: not one of the choices, found "strickt"');
    expect(stderr).toContain("\n  upstream: missing");
  });
});

describe("the sample request", () => {
  async function explain(flags: SampleFlags): Promise<Sample | undefined> {
    const { config } = await loadConfig({
      file: await fileWith(`upstream: http://127.0.0.1:9100${ROUTES}`),
    });
    return explainSample(config, flags);
  }

  it("is none when nothing was said of it", async () => {
    expect(await explain({})).toBeUndefined();
  });

  it.each<[string, SampleFlags, Partial<Sample>]>([
    [
      "a prefix",
      { path: "/verifiers/verify" },
      {
        route: "verifiers",
        upstreamTarget: "/verify",
        isVerify: true,
        effect:
          "a masked answer becomes HTTP 503 with the reason for 25 % by task, salt run-42, except of kind agent_timeout; every other answer is passed on unchanged",
      },
    ],
    [
      "a port with headers",
      { port: "9201", header: ["X-Client: canary", "authorization:s3cret"] },
      { route: "canary", mode: "observe", port: 9201, target: "/verify" },
    ],
    [
      "a user agent",
      { userAgent: "python-httpx/0.28.1" },
      {
        route: "httpx",
        effect:
          "a masked answer becomes a 200 with reward: null; every other answer is passed on unchanged",
      },
    ],
    [
      "nothing that is wanted",
      { path: "/verify" },
      {
        route: undefined,
        mode: "passthrough",
        effect: "the answer is passed on unchanged and never inspected",
      },
    ],
    [
      "a GET",
      { method: "GET", path: "/verifiers/verify" },
      { route: "verifiers", isVerify: false },
    ],
    ["another path", { path: "/verifiers/seed_session" }, { isVerify: false }],
  ])("with %s takes the route that the proxy would choose", async (_name, flags, expected) => {
    expect(await explain(flags)).toMatchObject(expected);
  });

  it("is told which header keeps it off a route, and no value of it that is a secret", async () => {
    const header = ["x-client: canary", "authorization: gue55"];
    const sample = await explain({ port: "9201", header });
    expect(sample?.steps[1]).toEqual({
      name: "canary",
      failed: "the value of authorization is another one",
    });
  });

  it("is told why each earlier route does not take it", async () => {
    const sample = await explain({ userAgent: "python-httpx/1", header: ["x-client: canary"] });
    expect(sample?.steps).toEqual([
      { name: "verifiers", failed: expect.stringContaining("/verifiers") },
      { name: "canary", failed: expect.stringContaining("9200") },
      { name: "httpx", failed: undefined },
    ]);
  });

  it("comes in by a port that is listened on", async () => {
    await expect(explain({ port: "9300" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: '--port: not a listening port, found "9300", allowed 9200, 9201',
    });
  });
});

describe("trying the upstream", () => {
  it("sends nothing but GET", async () => {
    const upstream = await startUpstream("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    expect(await probe(parseUpstream(upstream.url), ["/verify", "/run"])).toMatchObject({
      reachable: true,
      status: 404,
      server: undefined,
      verifyPaths: [
        { path: "/verify", known: false },
        { path: "/run", known: false },
      ],
    });
    expect(new Set(upstream.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  it("works through a socket file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "maskgate-check-"));
    closeLater(async () => rm(folder, { recursive: true }));
    const path = join(folder, "gym.sock");
    const { url } = await startUpstream("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", { path });
    expect(await probe(parseUpstream(url), [])).toMatchObject({ reachable: true, status: 200 });
  });

  it("tells what does not speak HTTP from what answers", async () => {
    const { url } = await startUpstream("SSH-2.0-OpenSSH_9.2\r\n");
    expect(await probe(parseUpstream(url), [])).toMatchObject({ reachable: false });
  });
});
