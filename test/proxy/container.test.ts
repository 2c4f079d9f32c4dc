import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Running, startCli, watchCli } from "../helpers/cli.js";
import { answer, maskedFor, request, SCORED, verify } from "../helpers/messages.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream } from "../helpers/upstream.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCKERFILE = readFileSync(`${ROOT}/Dockerfile`, "utf8");

/** The words of an instruction in its JSON form. */
function words(instruction: string): string[] {
  const [, json] = new RegExp(`^${instruction}\\s(?:[^[]*\\s)?(\\[.*\\])$`, "m").exec(
    DOCKERFILE.replaceAll("\\\n", ""),
  )!;
  return JSON.parse(json!) as string[];
}

/**
 * Makes this repository /mnt and everything read-only but /tmp, in a mount namespace of its own, and goes on as the image's user: what `docker run --read-only --tmpfs /tmp` does.
 */
const AS_IN_A_CONTAINER = `
mount --bind "$1" /mnt && mount -o remount,bind,ro /mnt && mount -t tmpfs tmpfs /tmp && mount -o remount,bind,ro / && shift || exit 99
cd /mnt && exec setpriv --reuid "$1" --regid "$1" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$2" "\${@:3}"`;

function inContainer(command: readonly string[]): string[] {
  const [, user] = /^USER (\d+):\1$/m.exec(DOCKERFILE)!;
  const own = command.map((word) => word.replace(/^\/app\//, "/mnt/"));
  return ["--mount", "bash", "-c", AS_IN_A_CONTAINER, "as-in-a-container", ROOT, user!, ...own];
}

/** Needs root to leave root's rights: elsewhere these are run by whoever runs the tests, who is no root either. */
const CAN = spawnSync("unshare", inContainer(["true"])).status === 0;

function startImage(env: Record<string, string>): Running {
  const command = inContainer([...words("ENTRYPOINT"), ...words("CMD")]);
  return watchCli(
    spawn("unshare", command, {
      env: { PATH: process.env["PATH"], MASKGATE_PORT: "0", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
}

async function health(env: Record<string, string>): Promise<number | null> {
  const [file = "", ...args] = words("HEALTHCHECK");
  const child = spawn(file, args, { env: { PATH: process.env["PATH"], ...env } });
  await once(child, "exit");
  return child.exitCode;
}

describe.skipIf(!CAN)("the image's command, as its user on a read-only root", () => {
  it("translates, with held answers in /tmp, is healthy, and stops when it is told to", async () => {
    const upstream = await startUpstream(answer(maskedFor("gone", { row: "x".repeat(100_000) })));
    const port = String(await freePort());
    const running = startImage({
      MASKGATE_UPSTREAM: upstream.url,
      MASKGATE_MASKED_AS_ERROR: "true",
      MASKGATE_HOLD_MEMORY_BYTES: "1000",
      MASKGATE_ADMIN_PORT: port,
    });
    const { url } = await running.event("listening");
    const own = String(url).replace("0.0.0.0", "127.0.0.1");
    expect((await rawRequest(own, verify())).status).toBe(503);
    expect(await health({ MASKGATE_ADMIN_PORT: port })).toBe(0);
    const status = readFileSync(`/proc/${running.child.pid}/status`, "utf8");
    expect(status).toMatch(/^Uid:\s+1000\s+1000\s+1000\s+1000$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
    expect(await health({ MASKGATE_ADMIN_PORT: port })).toBe(1);
  });

  it("without an upstream says so and ends with 2", async () => {
    const { code, stderr } = await startImage({}).finished;
    expect(code).toBe(2);
    expect(stderr).toContain("MASKGATE_UPSTREAM");
  });
});

it("the server beside maskgate in a pod stops only when maskgate has gone", async () => {
  interface Pod {
    containers: { lifecycle: { preStop: { exec: { command: string[] } } } }[];
  }
  const manifests = readFileSync(`${ROOT}/deploy/kubernetes/sidecar.yaml`, "utf8");
  const [pod] = parseAllDocuments(manifests).flatMap((document) => {
    const { kind, spec } = document.toJS() as { kind: string; spec: { template: { spec: Pod } } };
    return kind === "Deployment" ? [spec.template.spec] : [];
  });
  const admin = await startUpstream(answer("ok"));
  const [python = "", ...args] = pod!.containers[0]!.lifecycle.preStop.exec.command.map((word) =>
    word.replaceAll(":9201/", `:${admin.port}/`),
  );
  const hook = spawn(python, args, { stdio: "ignore" });
  const ended = once(hook, "exit");
  const { received } = await admin.arrived(2);
  expect(received.target).toBe("/healthz");
  expect(hook.exitCode).toBeNull();
  await admin.close();
  expect(await ended).toEqual([0, null]);
});

it("a draining maskgate still answers its probes: alive, not ready", async () => {
  const upstream = await startUpstream(async ({ whole }) => whole);
  const port = String(await freePort());
  const running = startCli(["serve", upstream.url, "--port", "0", "--admin-port", port]);
  const client = await openClient(String((await running.event("listening"))["url"]));
  client.write(verify());
  const { write } = await upstream.arrived();
  running.child.kill("SIGTERM");
  await running.event("draining");
  const admin = `http://127.0.0.1:${port}`;
  const headers = [["Host", "localhost"]] as const;
  const asks = ["/healthz", "/readyz"].map((path) => request("GET", path, { headers }));
  const replies = await Promise.all(asks.map(async (bytes) => rawRequest(admin, bytes)));
  expect(replies.map(({ status }) => status)).toEqual([200, 503]);
  write(answer(SCORED));
  expect((await running.finished).code).toBe(0);
});
