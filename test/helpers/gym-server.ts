import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeLater } from "./closing.js";
import { MASKED } from "./messages.js";

/**
 * A server for `maskgate run` to start. It prints `pid N` at once, for each of its own processes too, and `ready` when it is told where. `--ends CODE` ends it before it listens,
 * `--wait` lets it listen only after SIGUSR2, `--code CODE` is what it ends with at SIGTERM or SIGINT, `--deaf` makes it ignore them, `--brings KIND` starts a process beside it
 * (`same`: in its group, `own`: in a group of its own). POST /hold is answered after SIGUSR1, /end ends it, every other request gets a masked answer.
 */
const SOURCE = `
import { spawn } from "node:child_process";
import { createServer } from "node:http";
const words = process.argv.slice(2);
const value = (name) => words.includes(name) ? words[words.indexOf(name) + 1] : undefined;
console.log("pid " + process.pid);
console.error("to stderr: " + JSON.stringify(words));
if (value("--ends")) process.exit(Number(value("--ends")));
const kind = value("--brings");
if (kind) {
  const helper = "process.on('SIGTERM', () => {}); console.log('pid ' + process.pid); setInterval(() => {}, 1000);";
  spawn(process.execPath, ["-e", helper], { stdio: "inherit", detached: kind === "own" });
}
const held = [];
const server = createServer((request, reply) => {
  if (request.url === "/end") process.exit(Number(value("--code") ?? 0));
  const send = () => reply.writeHead(200, { "content-type": "application/json" }).end(${JSON.stringify(MASKED)});
  if (request.url === "/hold") { held.push(send); console.log("held"); } else send();
});
process.on("SIGUSR1", () => { for (const send of held.splice(0)) send(); });
for (const name of ["SIGTERM", "SIGINT"]) process.on(name, () => {
  console.log("told " + name);
  if (words.includes("--deaf")) return;
  if (value("--code")) process.exit(Number(value("--code")));
  process.removeAllListeners(name);
  process.kill(process.pid, name);
});
const listen = () => server.listen(Number(value("--port") ?? value("--at")), "127.0.0.1", () => console.log("ready"));
if (words.includes("--wait")) { process.on("SIGUSR2", listen); setInterval(() => {}, 1000); console.log("waits"); } else listen();
`;

/** The words that start such a server. */
export function gymServer(...words: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-run-"));
  closeLater(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "server.mjs");
  writeFileSync(file, SOURCE);
  return [process.execPath, file, ...words];
}
