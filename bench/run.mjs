// npm run bench [-- --quick] [--rounds N] [--peers a,b] [--cells 2k,64k] [--seconds S]: who adds how much to a verify answer.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CELLS } from "./cells.mjs";
import { CACHE, peersOf, ROOT } from "./peers.mjs";
import * as processes from "./processes.mjs";
import { tableOf } from "./table.mjs";
import { targetsOf } from "./targets.mjs";

const USAGE =
  "npm run bench -- [--quick] [--rounds N] [--seconds S] [--peers a,b] [--cells 2k,64k] [--against FOLDER] [--out FILE]";

function flagsOf() {
  try {
    return parseArgs({
      options: {
        help: { type: "boolean", short: "h" },
        quick: { type: "boolean", default: false },
        rounds: { type: "string" },
        seconds: { type: "string" },
        peers: { type: "string" },
        cells: { type: "string" },
        against: { type: "string" },
        out: { type: "string" },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n${USAGE}\n`);
    process.exit(2);
  }
}

const flags = flagsOf();
if (flags.help) {
  console.log(USAGE);
  process.exit();
}
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));
const seconds = Number(flags.seconds ?? (flags.quick ? 0.5 : 2));
const wanted = (list, name) =>
  list === undefined || list.split(",").some((one) => name.includes(one.trim()));
const exactly = (list, name) =>
  list === undefined || list.split(",").some((one) => name === one.trim());
const say = (text) => process.stderr.write(`${text}\n`);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => void processes.stopAll().finally(() => process.exit(1)));
}

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const stub = processes.startScript(processes.FIELD_CORE, script("stub.mjs"));
const { port: upstreamPort } = await processes.message(stub, ({ port }) => port !== undefined);
const load = processes.startScript(processes.FIELD_CORE, script("load.mjs"));

/** Runs one job; `onCounting` is called when its warming is over. */
async function measure(job, onCounting) {
  load.send(job);
  await processes.message(load, (sent) => sent.counting);
  onCounting?.();
  return processes.message(load, (sent) => sent.seconds !== undefined);
}

function expectation({ translates }, { masked, answer, connections, delay }) {
  const translated = masked && translates;
  return {
    answer,
    connections,
    delay,
    status: translated ? 503 : 200,
    sameBytes: !translated,
  };
}

/** Starts a peer and holds it to a scored and a masked answer of three sizes; says why it cannot be measured. */
async function open(peer) {
  if (peer.start === undefined) return { ...peer, port: upstreamPort };
  const why = peer.why?.();
  if (why !== undefined) return { ...peer, skipped: why };
  try {
    const port = await processes.freePort();
    const { command, env } = peer.start(port, upstreamPort);
    const child = processes.start(processes.PROXY_CORE, command, { env, cwd: CACHE });
    await processes.listens(port, child);
    for (const answer of ["2k", "2k-masked", "1m", "1m-masked"]) {
      const job = {
        port,
        ...expectation(peer, { answer, masked: answer.endsWith("masked"), connections: 2 }),
      };
      const { error } = await measure({ ...job, warmMs: 0, measureMs: 1, minAnswers: 6 });
      if (error !== undefined) {
        await processes.stop(child);
        return { ...peer, skipped: `is not correct (${answer}: ${error})` };
      }
    }
    // What is compiled while it runs is compiled before anything counts.
    const warming = {
      port,
      ...expectation(peer, { answer: "2k", masked: false, connections: 16 }),
    };
    const minAnswers = peer.slow ? 300 : 4000;
    await measure({ ...warming, warmMs: 0, measureMs: 1, minAnswers });
    return { ...peer, port, child };
  } catch (error) {
    return { ...peer, skipped: error.message };
  }
}

/** One number of one peer: what the load saw, and what it cost the peer. */
async function cellOf(peer, cell) {
  const pid = peer.child?.pid;
  let cpuBefore;
  if (pid !== undefined) processes.resetPeak(pid);
  const job = {
    port: peer.port,
    ...expectation(peer, cell),
    // What ran before may have made V8 throw code away, which is compiled again first.
    warmMs: Math.max(400, seconds * (cell.warm ?? 0.25) * 1000),
    measureMs: seconds * (cell.longer ?? 1) * 1000,
    minAnswers: cell.minAnswers,
  };
  const result = await measure(job, () => {
    cpuBefore = pid === undefined ? undefined : processes.cpuMs(pid);
  });
  const cpuAfter = pid === undefined ? undefined : processes.cpuMs(pid);
  const answers = cell.perByte ? result.bytes / cell.bytes : result.answers;
  return {
    ...result,
    rate: cell.perByte ? result.bytes / 1e6 / result.seconds : result.answers / result.seconds,
    cpuUs:
      cpuBefore === undefined || answers === 0
        ? undefined
        : ((cpuAfter - cpuBefore) * 1000) / answers,
    peakMiB: pid === undefined ? undefined : processes.peakMiB(pid),
  };
}

mkdirSync(CACHE, { recursive: true });
const started = Date.now();
const loadBefore = loadavg()[0];
const peers = [];
for (const peer of peersOf(flags.against).filter(({ name }) => wanted(flags.peers, name))) {
  const opened = await open(peer);
  if (opened.skipped !== undefined) say(`${opened.name}: left out: ${opened.skipped}`);
  peers.push(opened);
}
const measured = peers.filter(({ skipped }) => skipped === undefined);
const cells = CELLS.filter(
  ({ id, full }) => exactly(flags.cells, id) && !(flags.quick && full && flags.cells === undefined),
);

/** Whether this one is measured in this cell. */
const takesPart = (peer, cell) =>
  (!cell.masked || peer.translates) && !(flags.quick && peer.slow && !cell.light);
const total =
  rounds * cells.flatMap((cell) => measured.filter((peer) => takesPart(peer, cell))).length;

const rows = [];
for (let round = 0; round < rounds; round++) {
  for (const cell of cells) {
    const turn = measured
      .slice(round % measured.length)
      .concat(measured.slice(0, round % measured.length));
    for (const peer of turn) {
      if (!takesPart(peer, cell)) continue;
      const result = await cellOf(peer, cell);
      rows.push({ round, cell: cell.id, peer: peer.name, ...result });
      const said = result.error ?? `${result.rate.toFixed(0)} ${cell.perByte ? "MB" : "answers"}/s`;
      const done = `${rows.length}/${total}`.padStart(7);
      say(
        `${done}  round ${round + 1}/${rounds}  ${cell.id.padEnd(12)} ${peer.name.padEnd(26)} ${said}`,
      );
      await wait(20);
    }
  }
}
await processes.stopAll();

const git = (...args) =>
  spawnSync("git", args, { cwd: ROOT, encoding: "utf8" }).stdout?.trim() ?? "";
const report = {
  time: new Date(started).toISOString(),
  tookSeconds: (Date.now() - started) / 1000,
  commit: git("rev-parse", "--short", "HEAD"),
  machine: {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    node: process.version,
    pinned: processes.pinned,
  },
  noise: { loadBefore, loadAfter: loadavg()[0] },
  settings: { rounds, seconds, quick: flags.quick },
  peers: peers.map(({ name, translates, skipped }) => ({ name, translates, skipped })),
  cells,
  rows,
};
const file = flags.out ?? `${CACHE}/${report.time.replaceAll(":", "-")}.json`;
writeFileSync(file, JSON.stringify(report, undefined, 1));
process.stdout.write(
  `${tableOf(report)}\n\n${targetsOf(report)}\n\nwritten to ${file}; took ${Math.round(report.tookSeconds / 60)} min\n`,
);
process.exit(0);
