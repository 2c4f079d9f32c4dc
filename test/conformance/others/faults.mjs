// node test/conformance/others/faults.mjs: what maskgate, nginx, HAProxy and Envoy do about the same faults of an upstream, as rows of docs/RELIABILITY.md. Those
// that are not installed are left out; ENVOY=path names Envoy's program. Takes as long as the longest silence, about 75 s.
import http from "node:http";
import { setTimeout as after } from "node:timers/promises";
import { NAMES, start, versionOf } from "./programs.mjs";
import { IDLE_MS, startUpstream } from "./upstream.mjs";

const SILENCE_MS = 70_000;
let ids = 0;

/** One request, and in words what came of it. */
function ask(port, fault, { method = "POST", body = "{}", limitMs = 40_000, agent = false } = {}) {
  const id = `${process.pid}-${(ids += 1)}`;
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  return new Promise((resolve) => {
    const done = (said) => {
      clearTimeout(timer);
      resolve({ id, said, seconds: seconds() });
    };
    const request = http.request({
      port,
      method,
      path: `/verify?${fault}&${id}`,
      agent,
      maxHeaderSize: 1_000_000,
    });
    const timer = setTimeout(() => {
      done("nothing");
      request.destroy();
    }, limitMs);
    let status = "";
    request.on("error", (error) =>
      done(error.code.startsWith("HPE") ? "passed on" : status + error.code),
    );
    request.on("response", (reply) => {
      let size = 0;
      status = `${reply.statusCode}, then `;
      reply.on("data", (part) => (size += part.length));
      reply.on("error", () => done(`${status}the end`));
      reply.on("end", () =>
        done(
          `${reply.statusCode}${reply.statusCode === 200 && size < 20_000 && !fault.startsWith("large") ? " as if whole" : ""}`,
        ),
      );
    });
    request.end(method === "GET" ? undefined : body);
  });
}

const timed = ({ said, seconds }) => (seconds > 0 ? `${said} after ${seconds} s` : said);

/** How often a request came to the upstream. */
const counted = (upstream, { id, said }) =>
  `${said}, delivered ${upstream.deliveries.get(id) ?? 0}×`;

const both = async (port, upstream, fault) => {
  const post = await ask(port, fault);
  const get = await ask(port, fault, { method: "GET" });
  return `POST ${counted(upstream, post)}; GET ${counted(upstream, get)}`;
};

async function leaving(port, upstream) {
  const gone = ask(port, "silent", { limitMs: 500 });
  const { id } = await gone;
  const left = performance.now();
  while (!upstream.ends.has(id) && performance.now() < left + 5_000) await after(20);
  return upstream.ends.has(id) ? "ended at once" : "not ended within 5 s";
}

/** Asks again and again when the upstream is about to close the connection that was used last. */
async function idling(port, upstream) {
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      const seen = [];
      for (let turn = 0; turn < 30; turn += 1) {
        seen.push(await ask(port, "idle", { agent }));
        await after(IDLE_MS - 4 + ((n + turn) % 8));
      }
      agent.destroy();
      return seen;
    }),
  );
  const all = outcomes.flat();
  const wrong = all.filter(({ said }) => said !== "200");
  const twice = all.filter(({ id }) => upstream.deliveries.get(id) > 1);
  const kinds = [...new Set(wrong.map(({ said }) => said))].join(", ");
  return `${wrong.length} of ${all.length} failed${kinds && ` (${kinds})`}, ${twice.length} delivered twice`;
}

const ROWS = {
  "nobody listens": async (_, __, dead) =>
    `POST ${timed(await ask(dead, "ok"))}; GET ${timed(await ask(dead, "ok", { method: "GET" }))}`,
  "reset before the answer": (port, upstream) => both(port, upstream, "reset"),
  "end before the answer": (port, upstream) => both(port, upstream, "fin"),
  "no answer": async (port) => timed(await ask(port, "silent", { limitMs: SILENCE_MS })),
  garbage: async (port) => (await ask(port, "garbage")).said,
  "a header over 64 KiB": async (port) => (await ask(port, "large-header")).said,
  "a body with a length that ends early": async (port) => (await ask(port, "cut-length")).said,
  "a body in chunks that ends early": async (port) => (await ask(port, "cut-chunks")).said,
  "a reset in the body": async (port) => (await ask(port, "reset-length")).said,
  "413 before the request was read, a reset behind it": async (port) =>
    (await ask(port, "early", { body: "x".repeat(8_000_000) })).said,
  "the client leaves: the upstream's connection": leaving,
  "the upstream closes an idle connection as it is used": idling,
};

async function measure(name) {
  const upstream = await startUpstream();
  const closed = await startUpstream();
  const proxy = await start(name, upstream.port);
  const before = await start(name, closed.port);
  closed.server.close();
  const cells = await Promise.all(
    Object.values(ROWS).map(async (row) => row(proxy.port, upstream, before.port)),
  );
  await Promise.all([proxy.stop(), before.stop()]);
  upstream.server.close();
  return cells;
}

const here = NAMES.filter((name) => versionOf(name) !== undefined);
const columns = await Promise.all(here.map(measure));
console.log(`| fault | ${here.map((name) => `${name} ${versionOf(name)}`).join(" | ")} |`);
console.log(`|---|${here.map(() => "---|").join("")}`);
for (const [at, row] of Object.keys(ROWS).entries()) {
  console.log(`| ${row} | ${columns.map((cells) => cells[at]).join(" | ")} |`);
}
process.exit(0);
