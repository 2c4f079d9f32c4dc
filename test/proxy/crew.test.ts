import cluster from "node:cluster";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { Crew } from "../../src/workers/crew.js";
import { closeLater } from "../helpers/closing.js";
import { deferred } from "../helpers/deferred.js";
import { eventually } from "../helpers/eventually.js";
import { configOf } from "../helpers/proxy.js";

const WORKER = fileURLToPath(new URL("../../dist/cli/worker.js", import.meta.url));

const pids = (): number[] =>
  Object.values(cluster.workers ?? {}).flatMap((worker) => worker?.process.pid ?? []);

it("a worker whose turn to be replaced comes after the end is not replaced", async () => {
  const crew = new Crew({
    script: WORKER,
    size: 1,
    log: pino({ level: "silent" }),
    config: () => configOf("http://127.0.0.1:9", ""),
    onReport: () => undefined,
    giveUp: (says) => {
      throw new Error(says);
    },
  });
  closeLater(async () => crew.close());
  await crew.start();
  const reload = deferred();
  const reloaded = crew.inTurn(async () => reload.promise);
  const waits = vi.spyOn(crew, "inTurn");
  process.kill(pids()[0]!, "SIGKILL");
  await eventually(() => expect(waits).toHaveBeenCalledOnce());
  await crew.close();
  reload.resolve();
  await reloaded;
  await waits.mock.results[0]!.value.catch(() => undefined);
  expect(pids()).toEqual([]);
});
