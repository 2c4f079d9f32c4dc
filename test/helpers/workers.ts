import { readFileSync } from "node:fs";
import { closeLater } from "./closing.js";
import { eventually } from "./eventually.js";
import { request } from "./messages.js";
import { rawRequest, type Reply } from "./raw-client.js";
import { type Serving, startServing } from "./serving.js";

/** The program with workers, and its operators' listener as `ask` and `scrape` take it. */
export interface Crew extends Serving {
  readonly gate: { readonly adminUrl: string };
  readonly pid: number;
  readonly urls: readonly string[];
}

/** Starts `serve --config` with a file that asks for workers and a listener for operators. */
export async function startCrew(yaml: string, workers = 2): Promise<Crew> {
  let pids: readonly number[] = [];
  // Registered first, so that it is run when the program has ended.
  closeLater(async () => eventually(() => gone(pids)));
  const serving = await startServing(`${yaml}\nworkers: ${workers}\nadmin: {port: 0}\n`);
  const line = await serving.program.event("listening");
  const pid = serving.program.child.pid ?? 0;
  pids = workersOf(pid);
  return {
    ...serving,
    pid,
    gate: { adminUrl: String(line["adminUrl"]) },
    urls: line["urls"] as readonly string[],
  };
}

/** The processes that this one has started and that live, in the order of their start. */
export function workersOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
  return list.split(" ").filter(Boolean).map(Number);
}

/** Throws while one of them lives. */
export function gone(pids: readonly number[]): void {
  const alive = pids.filter((pid) => {
    try {
      // A process that nobody has waited for yet is over, too.
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
    } catch {
      return false;
    }
  });
  if (alive.length > 0) throw new Error(`${alive.join(", ")} live`);
}

/** Sends a verify on a connection of its own; those go to the workers in turn. */
export async function verifyAnew(url: string, path = "/verify", body = "{}"): Promise<Reply> {
  return rawRequest(url, request("POST", path, { body, headers: [["Connection", "close"]] }));
}
