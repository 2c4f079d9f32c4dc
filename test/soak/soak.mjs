// npm run soak -- --minutes 10 [--seed 1] [--workers 24]: mixed traffic through a maskgate of its own against a stub with faults. Every answer is accounted
// for; afterwards memory, descriptors, temporary files and event-loop delay must be back where they were. Ends with 1 when anything is not.
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import http from "node:http";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { startProxy } from "./proxy.mjs";
import { bodyOf, startStub } from "./stub.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
    workers: { type: "string", default: "24" },
  },
});
const minutes = Number(values.minutes);

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const MODES = ["passthrough", "observe", "strict"];
const KINDS = [
  ...Array(20).fill("scored"),
  ...Array(12).fill("masked"),
  ...[
    "scored-gzip",
    "masked-gzip",
    "scored-chunks",
    "masked-chunks",
    "scored-large",
    "masked-large",
  ],
  ...["seed", "seed", "tool", "tool", "tool", "tool", "sse", "sse", "own-503"],
  ...["reset-before", "reset-inside", "cut-inside", "garbage", "silent", "abort", "abort"],
];
const PATHS = { seed: "/seed_session", tool: "/get_weather", sse: "/events" };

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** What came of one request; `leaveAfterMs` is when the client resets the connection. */
function ask(url, target, leaveAfterMs) {
  return new Promise((resolve) => {
    const request = http.request(url + target, { method: "POST", agent });
    let timer;
    const done = (outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    if (leaveAfterMs !== undefined) {
      timer = setTimeout(() => {
        request.socket?.resetAndDestroy();
        request.destroy();
        done({ left: true });
      }, leaveAfterMs);
    }
    request.on("error", (error) => done({ broken: error.code }));
    request.on("response", (reply) => {
      const parts = [];
      reply.on("data", (part) => parts.push(part));
      reply.on("error", () => done({ status: reply.statusCode, broken: "inside" }));
      reply.on("end", () => {
        const { statusCode: status, headers } = reply;
        done({ status, headers, body: Buffer.concat(parts) });
      });
    });
    request.end('{"responses_create_params":{}}');
  });
}

/** The body without its coding; of one that is damaged, nothing. */
function plainOf(body, coding) {
  if (coding !== "gzip") return body;
  try {
    return gunzipSync(body);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Why an outcome is not the one that must come; undefined when it is. */
function complaint(mode, kind, size, id, { status, headers = {}, body, broken, left }) {
  const verdict = headers["maskgate-verdict"];
  const strict = mode === "strict";
  if (kind === "silent" || kind === "abort")
    return left || status !== undefined || broken ? undefined : "nothing";
  if (kind === "reset-before" || kind === "garbage") {
    return status === 502 && verdict === "upstream-error" ? undefined : "no 502";
  }
  if (kind === "reset-inside" || kind === "cut-inside") {
    if (status === 502 && verdict === "upstream-error") return undefined;
    return !strict && broken !== undefined ? undefined : "a cut answer came whole";
  }
  if (broken !== undefined) return `broken: ${broken}`;
  if (strict && kind.startsWith("masked")) {
    return status === 503 &&
      verdict === "masked" &&
      headers["content-length"] === String(body.length)
      ? undefined
      : "no 503";
  }
  if (verdict !== undefined) return `verdict ${verdict}`;
  if (status !== (kind === "own-503" ? 503 : 200)) return `status ${status}`;
  const plain = plainOf(body, headers["content-encoding"]);
  return digest(plain) === digest(Buffer.from(bodyOf(kind, size, id))) ? undefined : "other bytes";
}

const agent = new http.Agent({ keepAlive: true });
const stub = await startStub();
const proxy = await startProxy(stub.url, MODES);
let ending = false;
proxy.child.once("exit", (code, signal) => {
  if (ending) return;
  console.log(`soak: FAILED: the proxy ended by itself with ${code ?? signal}`);
  process.exit(1);
});
const counts = new Map();
const complaints = [];
let nextId = 0;

async function traffic(seed, ms) {
  const until = performance.now() + ms;
  const worker = async (n) => {
    const random = randomOf(seed + n * 7919);
    const pick = (list) => list[Math.floor(random() * list.length)];
    while (performance.now() < until) {
      const [mode, kind, id] = [pick(MODES), pick(KINDS), String(nextId++)];
      const size = kind.endsWith("-large") ? 500_000 + random() * 5_000_000 : random() * 40_000;
      const bytes = Math.floor(size);
      const target = `/${mode}${PATHS[kind] ?? "/verify"}?kind=${kind}&size=${bytes}&id=${id}`;
      const leaves = kind === "silent" || kind === "abort";
      const outcome = await ask(proxy.url, target, leaves ? random() * 40 : undefined);
      const wrong = complaint(mode, kind, bytes, id, outcome);
      counts.set(`${mode} ${kind}`, (counts.get(`${mode} ${kind}`) ?? 0) + 1);
      if (wrong !== undefined)
        complaints.push(
          `${target}: ${wrong} (${outcome.status ?? outcome.broken}) ${outcome.status >= 400 ? outcome.body : ""}`,
        );
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, async (_, n) => worker(n)));
}

/** The state once nothing is going on any more. */
async function atRest() {
  agent.destroy();
  stub.server.closeIdleConnections();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await proxy.state();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return proxy.state();
}

const shown = ({ rss, heapUsed, external, descriptors, sockets, held, p50, p99, max }) =>
  `rss ${(rss / 1e6).toFixed(0)} MB, heap ${(heapUsed / 1e6).toFixed(1)} MB, external ${(external / 1e6).toFixed(1)} MB, descriptors ${descriptors}, sockets ${sockets}, held files ${held}, event-loop delay p50/p99/max ${p50.toFixed(1)}/${p99.toFixed(1)}/${max.toFixed(1)} ms`;

console.log(
  `soak: ${minutes} min, seed ${values.seed}, ${values.workers} workers, Node ${process.version}`,
);
// Code and pools are warm before the start values are taken.
await traffic(Number(values.seed) + 1, Math.min(20_000, minutes * 20_000));
const before = await atRest();
console.log(`before: ${shown(before)}`);
const warm = nextId;
const run = traffic(Number(values.seed), minutes * 60_000);
const ticker = setInterval(
  async () => console.log(`during: ${nextId} asked; ${shown(await proxy.state())}`),
  60_000,
);
await run;
clearInterval(ticker);
const during = await proxy.state();
const after = await atRest();
console.log(`at the end: ${shown(during)}`);
console.log(`after:  ${shown(after)}`);

const doubled = [...stub.deliveries.values()].filter((n) => n > 1).length;
const total = (mode, test) =>
  [...counts].reduce(
    (sum, [key, n]) => (key.startsWith(mode) && test(key.split(" ")[1]) ? sum + n : sum),
    0,
  );
const faults = (kind) => /^(?:reset|cut|garbage|silent|abort)/.test(kind);
for (const mode of MODES) {
  const masked = total(mode, (kind) => kind.startsWith("masked"));
  console.log(
    `${mode}: ${total(mode, () => true)} requests, ${masked} masked, ${total(mode, faults)} with a fault of either side`,
  );
}
console.log(
  `asked: ${nextId} (${warm} to warm up), delivered twice: ${doubled}, not accounted for: ${complaints.length}`,
);
for (const text of complaints.slice(0, 20)) console.log(`  ${text}`);

const failures = [
  ...(complaints.length > 0 ? ["answers that are not accounted for"] : []),
  ...(doubled > 0 ? ["requests that were delivered twice"] : []),
  ...(after.held > 0 ? ["temporary files left"] : []),
  ...(after.sockets > before.sockets ? ["sockets left"] : []),
  ...(after.descriptors > before.descriptors ? ["descriptors left"] : []),
  ...(after.heapUsed > before.heapUsed + 10e6 ? ["heap grew"] : []),
  ...(after.external > before.external + 10e6 ? ["external memory grew"] : []),
  ...(after.rss > before.rss * 1.5 + 50e6 ? ["resident memory grew"] : []),
  // Of the timer's own step of 10 ms; what is rare is not told from a busy machine.
  ...(after.p50 > before.p50 + 5 ? ["event loop held up"] : []),
  ...((proxy.events.get("internal_error") ?? 0) > 0 ? ["internal errors"] : []),
];
const gone = new Promise((resolve) => proxy.child.once("exit", resolve));
ending = true;
proxy.child.kill("SIGTERM");
const patience = setTimeout(() => proxy.child.kill("SIGKILL"), 15_000);
const code = await gone;
clearTimeout(patience);
if (code !== 0) failures.push(`ended with ${code}`);
rmSync(proxy.folder, { recursive: true, force: true });
stub.server.closeAllConnections();
stub.server.close();
console.log(failures.length === 0 ? "soak: passed" : `soak: FAILED: ${failures.join(", ")}`);
process.exit(failures.length === 0 ? 0 : 1);
