import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { describe, expect, it } from "vitest";
import { askStatus } from "../helpers/admin.js";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { MASKED } from "../helpers/messages.js";
import { pem, tlsFile } from "../helpers/tls.js";
import { freePort } from "../helpers/upstream.js";
import { startCrew, verifyAnew, workersOf } from "../helpers/workers.js";

const REST = "\nworkers: 2\nadmin: {port: 0}\n";

async function startMasked(): Promise<{ url: string; port: number }> {
  const { url } = await startHttpUpstream((asked, reply) => {
    asked.resume();
    reply.setHeader("content-type", "application/json");
    reply.end(MASKED);
  });
  return { url, port: Number(new URL(url).port) };
}

/** The statuses of six verifies, three to each worker. */
async function statuses(url: string): Promise<number[]> {
  const replies = await Promise.all(Array.from({ length: 6 }, async () => verifyAnew(url)));
  return replies.map(({ status }) => status);
}

const six = (status: number): number[] => Array.from({ length: 6 }, () => status);

describe("a changed configuration", () => {
  it("applies in every worker, or is refused in every one", async () => {
    const upstream = await startMasked();
    const taken = await startMasked();
    const port = await freePort();
    const extra = await freePort();
    const file = (status: number, ...ports: number[]): string =>
      `upstream: ${upstream.url}
listen: [${[port, ...ports].map((p) => `{port: ${p}}`).join(", ")}]
routes: [{name: s, mode: strict, match: {header: {accept: {matches: ".*"}}}, status: 418}, {name: r, mode: strict, status: ${status}, except: [provider_*]}]`;
    const crew = await startCrew(file(500));
    expect(await statuses(crew.url)).toEqual(six(500));
    for (let round = 0; round < 5; round += 1) {
      await crew.change(file(510 + round) + REST, "config_applied");
      expect(await statuses(crew.url)).toEqual(six(510 + round));
      const line = await crew.change(file(599, extra, taken.port) + REST, "config_refused");
      expect(line["problems"]).toEqual([expect.stringContaining("the port is taken")]);
      expect(await statuses(crew.url)).toEqual(six(510 + round));
      await expect(verifyAnew(`http://127.0.0.1:${extra}`)).rejects.toThrow(/ECONNREFUSED/);
    }
    await crew.change(file(520, extra) + REST, "config_applied");
    expect(await statuses(`http://127.0.0.1:${extra}`)).toEqual(six(520));
    await crew.change(file(521) + REST, "config_applied");
    expect(await statuses(crew.url)).toEqual(six(521));
    await eventually(async () =>
      expect(verifyAnew(`http://127.0.0.1:${extra}`)).rejects.toThrow(/ECONNREFUSED/),
    );
    expect(crew.logged("config_applied")).toHaveLength(7);
    expect((await askStatus(crew)).routes.map(({ name }) => name)).toEqual(["s", "r"]);
  });

  it("does not wait for a worker that hangs, which is told of and replaced", async () => {
    const text = `upstream: ${(await startMasked()).url}\nlisten: {port: 0}\nroutes: [{name: s, mode: strict, status: 500}]`;
    const crew = await startCrew(text);
    const [pid] = workersOf(crew.pid);
    process.kill(pid!, "SIGSTOP");
    await crew.change(text.replace("500", "510") + REST, "config_applied");
    expect(crew.logged("worker_stuck")).toMatchObject([{ level: "error", worker: 1, pid }]);
    await crew.nth("worker_started", 1);
    expect(await statuses(crew.url)).toEqual(six(510));
    expect(crew.logged("worker_ended")).toMatchObject([{ pid, how: "SIGKILL" }]);
  });

  it("of the number of workers needs a restart", async () => {
    const text = `upstream: ${(await startMasked()).url}\nlisten: {port: 0}`;
    const crew = await startCrew(text);
    const line = await crew.change(`${text}${REST.replace("2", "3")}`, "config_needs_restart");
    expect(line["changes"]).toMatchObject([{ path: "workers", from: "2", to: "3" }]);
  });

  it("of listeners on port 0 is refused: workers could not agree on the port", async () => {
    const text = `upstream: ${(await startMasked()).url}\nlisten: {port: 0}`;
    const crew = await startCrew(text);
    const more = text.replace("{port: 0}", "[{port: 0}, {port: 0}]");
    const line = await crew.change(more + REST, "config_refused");
    expect(line["problems"]).toEqual([
      expect.stringContaining("listeners on port 0 cannot change"),
    ]);
    expect((await verifyAnew(crew.url)).status).toBe(200);
  });
});

/** The name in the certificate that is shown to a new client. */
async function shownName(url: string): Promise<string> {
  const port = Number(new URL(url).port);
  const socket = tls.connect({ port, ca: pem("ca.pem"), servername: "localhost" });
  await once(socket, "secureConnect");
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

it("a new certificate is shown by every worker, and said once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
  closeLater(() => rmSync(folder, { recursive: true, force: true }));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  copyFileSync(tlsFile("first.pem"), cert);
  copyFileSync(tlsFile("first-key.pem"), key);
  const { url } = await startMasked();
  const crew = await startCrew(
    `upstream: ${url}\nlisten: {port: 0, tls: {cert: "${cert}", key: "${key}"}}`,
  );
  const names = async (): Promise<string[]> =>
    Promise.all(Array.from({ length: 4 }, async () => shownName(crew.url)));
  expect(await names()).toEqual(["first", "first", "first", "first"]);
  writeFileSync(cert, pem("second.pem"));
  await crew.nth("certificate_refused", 1);
  expect(await names()).toEqual(["first", "first", "first", "first"]);
  writeFileSync(key, pem("second-key.pem"));
  await crew.nth("certificate_applied", 1);
  await eventually(async () =>
    expect(await names()).toEqual(["second", "second", "second", "second"]),
  );
  expect(crew.logged("certificate_applied")).toHaveLength(1);
});
