// Processes of the bench: started on one core, watched through /proc where there is one.
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { availableParallelism } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

const CLOCK_TICKS = 100;
const hasTaskset = spawnSync("taskset", ["--version"]).status === 0;

/** Whether processes can be bound to cores here: proxies to the first, load and upstream to the second. */
export const pinned = hasTaskset && availableParallelism() >= 2;

export const PROXY_CORE = 0;
export const FIELD_CORE = 1;

const running = new Set();

function onCore(core, command) {
  return pinned ? ["taskset", "-c", String(core), ...command] : command;
}

/** A program on this core; ended with the bench. */
export function start(core, command, { cwd, env } = {}) {
  const [program, ...args] = onCore(core, command);
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return track(child);
}

/** A script of the bench on this core, which talks over IPC. */
export function startScript(core, path, { execArgv = [], args = [], env } = {}) {
  const child = fork(path, args, {
    execPath: pinned ? "taskset" : process.execPath,
    execArgv: pinned ? ["-c", String(core), process.execPath, ...execArgv] : execArgv,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
  });
  return track(child);
}

function track(child) {
  running.add(child);
  child.output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data) => {
      child.output = (child.output + data).slice(-20_000);
    });
  }
  child.once("exit", () => running.delete(child));
  child.once("error", (error) => {
    child.output += String(error);
    running.delete(child);
  });
  return child;
}

/** Ends everything that was started here. */
export async function stopAll() {
  await Promise.all([...running].map((child) => stop(child)));
}

/** Ends one process. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 2000);
  await gone;
  clearTimeout(late);
}

/** The next message of a process that `pick` accepts. */
export function message(child, pick) {
  return new Promise((resolve, reject) => {
    const take = (sent) => {
      if (!pick(sent)) return;
      child.off("message", take);
      child.off("exit", gone);
      resolve(sent);
    };
    const gone = () => reject(new Error("the process ended before it answered"));
    child.on("message", take);
    child.once("exit", gone);
  });
}

/** A port that nobody listens on just now. */
export async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves once somebody listens there; throws when the process ends before that. */
export async function listens(port, child) {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null || child.pid === undefined) {
      throw new Error(`ended at its start: ${child.output.trim().slice(-500)}`);
    }
    const socket = net.connect(port, "127.0.0.1");
    const connected = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (connected) return;
    await wait(50);
  }
  throw new Error("did not listen within 30 s");
}

/** Every process below this one, and itself. */
function tree(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return [
      pid,
      ...children
        .split(" ")
        .filter(Boolean)
        .flatMap((child) => tree(Number(child))),
    ];
  } catch {
    return [pid];
  }
}

/** How long the process, with or without its children, has been on a core, in milliseconds; undefined where nobody tells. */
export function cpuMs(pid, withChildren = true) {
  let ticks = 0;
  try {
    for (const one of withChildren ? tree(pid) : [pid]) {
      const stat = readFileSync(`/proc/${one}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      ticks += Number(fields[11]) + Number(fields[12]);
    }
  } catch {
    return undefined;
  }
  return (ticks * 1000) / CLOCK_TICKS;
}

/** Forgets the peak of resident memory, so that the next one can be read. */
export function resetPeak(pid) {
  for (const one of tree(pid)) {
    try {
      writeFileSync(`/proc/${one}/clear_refs`, "5");
    } catch {
      // The peak is then that of the whole run.
    }
  }
}

/** The peak of resident memory of the process and its children, in MiB. */
export function peakMiB(pid) {
  return statusMiB(pid, "VmHWM");
}

/** The resident memory of the process and its children, in MiB. */
export function residentMiB(pid) {
  return statusMiB(pid, "VmRSS");
}

function statusMiB(pid, field) {
  let sum = 0;
  try {
    for (const one of tree(pid)) {
      const status = readFileSync(`/proc/${one}/status`, "utf8");
      sum += Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    }
  } catch {
    return undefined;
  }
  return sum / 1024;
}
