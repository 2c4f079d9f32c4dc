import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { Loaded } from "../../src/config/resolve.js";
import { resolveConfig } from "../../src/config/resolve.js";

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

function loaded(text: string, env: Record<string, string> = {}): Loaded {
  const result = resolveConfig({ env }, { name: "maskgate.yaml", text });
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result;
}

const PACKAGE = JSON.parse(read("package.json")) as { version: string; files: string[] };

describe("deploy/kubernetes/sidecar.yaml", () => {
  interface Container {
    name: string;
    image: string;
    args: string[];
    ports: { name: string; containerPort: number }[];
    lifecycle: { preStop: { exec: { command: string[] } } };
    livenessProbe: { httpGet: { path: string; port: string } };
    readinessProbe: { httpGet: { path: string; port: string } };
    volumeMounts: { name: string; mountPath: string; subPath?: string }[];
  }
  interface Pod {
    terminationGracePeriodSeconds: number;
    containers: Container[];
    volumes: { name: string; configMap?: { name: string } }[];
  }
  interface Manifest {
    kind: string;
    metadata: { name: string };
    data: Record<string, string>;
    spec: { template: { spec: Pod } };
  }
  const manifests = parseAllDocuments(read("deploy/kubernetes/sidecar.yaml")).map(
    (document) => document.toJS() as Manifest,
  );
  const of = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!;
  const pod = of("Deployment").spec.template.spec;
  const [gym, maskgate] = pod.containers as [Container, Container];
  // What the kubelet and the image add to the environment for a Service called maskgate.
  const { config } = loaded(of("ConfigMap").data["maskgate.yaml"]!, {
    MASKGATE_ADMIN_PORT: "9201",
    MASKGATE_ADMIN_TOKEN: "change-this-token",
    MASKGATE_PORT: "tcp://10.0.0.1:9200",
  });

  it("has a ConfigMap whose routes are valid: strict for verifiers, unchanged for Gym", () => {
    expect(config.routes.map(({ name, mode }) => [name, mode])).toEqual([
      ["verifiers", "strict"],
      ["gym", "passthrough"],
    ]);
  });

  it("mounts the whole ConfigMap where maskgate reads it, so that a change arrives", () => {
    expect(maskgate.args).toEqual(["serve", "--config", "/etc/maskgate/maskgate.yaml"]);
    const mount = maskgate.volumeMounts.find(({ mountPath }) => mountPath === "/etc/maskgate")!;
    expect(mount.subPath).toBeUndefined();
    const volume = pod.volumes.find(({ name }) => name === mount.name)!;
    expect(volume.configMap?.name).toBe(of("ConfigMap").metadata.name);
  });

  it("opens the ports that the configuration names, to the kubelet as well", () => {
    const ports = Object.fromEntries(
      maskgate.ports.map(({ name, containerPort }) => [name, containerPort]),
    );
    expect(config.listen).toMatchObject([{ host: "0.0.0.0", port: ports["maskgate"] }]);
    expect(config.admin).toMatchObject({ host: "0.0.0.0", port: ports["admin"] });
    expect(config.admin?.token).toBe("change-this-token");
    expect(maskgate.livenessProbe.httpGet).toEqual({ path: "/healthz", port: "admin" });
    expect(maskgate.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "admin" });
    expect(config.upstream.url).toBe(`http://127.0.0.1:${gym.ports[0]!.containerPort}`);
  });

  it("leaves time for what is in flight, and then for the server", () => {
    const [, seconds] = maskgate.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      Number(seconds) + config.drainMs / 1000 + 30,
    );
  });

  it("takes the image of this version", () => {
    expect(maskgate.image).toBe(`maskgate:${PACKAGE.version}`);
  });
});

describe("deploy/compose.yaml", () => {
  interface Service {
    command: string[];
    volumes: string[];
    ports: string[];
    stop_grace_period: string;
  }
  const { services } = parse(read("deploy/compose.yaml")) as { services: Record<string, Service> };
  const { config } = loaded(read("deploy/config/maskgate.yaml"));

  it("mounts a valid configuration in front of its own server", () => {
    const { command, volumes, ports } = services["maskgate"]!;
    expect(command).toEqual(["serve", "--config", "/etc/maskgate/maskgate.yaml"]);
    expect(volumes).toEqual(["./config:/etc/maskgate:ro"]);
    expect(Object.keys(services)).toContain(new URL(config.upstream.url).hostname);
    expect(ports).toEqual([`127.0.0.1:9200:${config.listen[0]!.port}`]);
  });

  it("listens for operators where the image's health check asks, whether the image or the file says so", () => {
    const dockerfile = read("Dockerfile");
    const [, asked = ""] = /^ENV (?:.*\\\n)*\s*MASKGATE_ADMIN_PORT=(\d+)/m.exec(dockerfile)!;
    expect(dockerfile).toMatch(
      /^HEALTHCHECK .*\n.*`http:\/\/127\.0\.0\.1:\$\{process\.env\.MASKGATE_ADMIN_PORT\}\/healthz`/m,
    );
    const inImage = loaded(read("deploy/config/maskgate.yaml"), { MASKGATE_ADMIN_PORT: asked });
    for (const { admin } of [config, inImage.config]) {
      expect(admin).toMatchObject({ host: "127.0.0.1", port: Number(asked) });
    }
  });

  it("leaves time for what is in flight, as the systemd unit does", () => {
    const minutes = (text: string | undefined): number => Number(/^(\d+)m(?:in)?$/.exec(text!)![1]);
    const unit = /^TimeoutStopSec=(.*)$/m.exec(read("deploy/systemd/maskgate.service"))![1];
    const needed = config.drainMs / 60_000;
    expect(minutes(services["maskgate"]!.stop_grace_period)).toBeGreaterThan(needed);
    expect(minutes(unit)).toBeGreaterThan(needed);
  });
});

describe("the Dockerfile", () => {
  it("copies all that the npm package holds, and builds from what .dockerignore lets in", () => {
    const lines = read("Dockerfile").split("\n");
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM")));
    const copied = last
      .filter((line) => line.startsWith("COPY"))
      .flatMap((line) => line.split(" ").slice(1, -1))
      .map((name) => name.replace(/^\/app\//, ""));
    for (const name of PACKAGE.files) expect(copied).toContain(name);
    const sent = read(".dockerignore").split("\n");
    const fromContext = lines
      .filter((line) => line.startsWith("COPY") && !line.includes("--from"))
      .flatMap((line) => line.split(" ").slice(1, -1));
    for (const name of fromContext) expect(sent).toContain(`!${name}`);
  });
});
