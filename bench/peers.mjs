// Who is measured: how each is started in front of an upstream, and what it must do to count as correct.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
/** The repository. */
export const ROOT = here("..");
/** Where `setup.sh` puts what it installs, and where runs keep their files. */
export const CACHE = here("../.cache/bench");
const NODE = process.execPath;
const VENV_PYTHON = `${CACHE}/venv/bin/python`;
const MITMDUMP = `${CACHE}/mitmproxy/bin/mitmdump`;

const missing = (path) => (existsSync(path) ? undefined : "not installed (bench/setup.sh)");
const hasNginx = () =>
  spawnSync("nginx", ["-v"]).status === 0 ? undefined : "not installed (bench/setup.sh)";
const hasLua = () => hasNginx() ?? missing("/usr/lib/nginx/modules/ngx_http_lua_module.so");
const npmPeer = (name) => () => missing(`${CACHE}/npm/node_modules/${name}/package.json`);
const isBuilt = (root) => () =>
  existsSync(`${root}/dist/cli/main.js`) ? undefined : "not built (npm run build)";

function nginx(config) {
  return (port, upstreamPort) => {
    const prefix = `${CACHE}/nginx-${config}-${port}`;
    mkdirSync(`${prefix}/logs`, { recursive: true });
    const text = readFileSync(here(`peers/${config}.conf`), "utf8")
      .replaceAll("PORT_OF_UPSTREAM", String(upstreamPort))
      .replaceAll("PORT", String(port));
    writeFileSync(`${prefix}/nginx.conf`, text);
    return { command: ["nginx", "-p", prefix, "-c", `${prefix}/nginx.conf`, "-e", "stderr"] };
  };
}

const script = (path) => (port, upstreamPort) => ({
  command: [NODE, here(path), String(port), String(upstreamPort)],
  env: { BENCH_MODULES: `${CACHE}/npm/node_modules` },
});

const python = (path) => (port, upstreamPort) => ({
  command: [VENV_PYTHON, here(path), String(port), String(upstreamPort)],
});

/** The three modes of the maskgate in this folder. */
function maskgates(root, label) {
  const name = (mode) => `${label} ${mode}`;
  const why = isBuilt(root);
  const serve = (...flags) => ({ command: [NODE, `${root}/bin/maskgate.js`, "serve", ...flags] });
  const plain =
    (...flags) =>
    (port, upstreamPort) =>
      serve(
        ...[`http://127.0.0.1:${upstreamPort}`, "--port", String(port)],
        ...["--log-level", "warn", ...flags],
      );
  const observe = (port, upstreamPort) => {
    const file = `${CACHE}/observe-${port}.yaml`;
    writeFileSync(
      file,
      `upstream: http://127.0.0.1:${upstreamPort}\nlisten: {host: 127.0.0.1, port: ${port}}\nlogLevel: warn\nroutes:\n  - {name: all, mode: observe}\n`,
    );
    return serve("--config", file);
  };
  return [
    { name: name("passthrough"), translates: false, why, start: plain() },
    { name: name("observe"), translates: false, why, start: observe },
    { name: name("strict"), translates: true, why, start: plain("--masked-as-error") },
  ];
}

/**
 * `translates`: a masked answer must become 503; else it must come through unchanged. `slow`: left out of the heavy cells of a quick run.
 * `start(port, upstreamPort)` tells the command; `why()` why it cannot run here.
 */
const OTHERS = [
  { name: "direct", translates: false },
  { name: "nginx", translates: false, why: hasNginx, start: nginx("nginx-plain") },
  { name: "nginx + Lua", translates: true, why: hasLua, start: nginx("nginx-lua") },
  {
    name: "http-proxy-3",
    translates: false,
    start: script("peers/http-proxy-3.mjs"),
  },
  {
    name: "http-proxy-3 + JSON.parse",
    translates: true,
    start: script("peers/http-proxy-3-parse.mjs"),
  },
  {
    name: "http-proxy-middleware",
    translates: true,
    why: npmPeer("http-proxy-middleware"),
    start: script("peers/http-proxy-middleware.mjs"),
    slow: true,
  },
  {
    name: "Go ReverseProxy",
    translates: true,
    why: () => missing(`${CACHE}/go-reverse-proxy`),
    start: (port, upstreamPort) => ({
      command: [`${CACHE}/go-reverse-proxy`, String(port), String(upstreamPort)],
      env: { GOMAXPROCS: "1" },
    }),
  },
  {
    name: "aiohttp",
    translates: true,
    why: () => missing(VENV_PYTHON),
    start: python("peers/aiohttp_proxy.py"),
    slow: true,
  },
  {
    name: "FastAPI + httpx",
    translates: true,
    why: () => missing(VENV_PYTHON),
    start: python("peers/fastapi_proxy.py"),
    slow: true,
  },
  {
    name: "mitmproxy",
    translates: true,
    why: () => missing(MITMDUMP),
    start: (port, upstreamPort) => ({
      command: [
        ...[MITMDUMP, "--mode", `reverse:http://127.0.0.1:${upstreamPort}`],
        ...["--listen-host", "127.0.0.1", "--listen-port", String(port), "--quiet"],
        ...[
          "--set",
          `confdir=${CACHE}/mitmproxy-home`,
          "--scripts",
          here("peers/mitmproxy_addon.py"),
        ],
      ],
    }),
    slow: true,
  },
];

/** Everybody, and where `against` names another checkout of maskgate, also its three modes. */
export function peersOf(against) {
  const other = against === undefined ? [] : maskgates(against, "against");
  return [...OTHERS, ...maskgates(ROOT, "maskgate"), ...other];
}
