import type { Config } from "../config/config.js";
import { Audit } from "../observe/audit.js";
import { logEvent, type Logger } from "../observe/log.js";
import { Monitor, type ReloadOutcome, type StormMessage } from "../observe/monitor.js";
import type { Witness } from "../observe/passage.js";
import type { Readings } from "../observe/readings.js";
import { version } from "../version.js";
import type { AdminDoor } from "./admin.js";
import type { HoldBudget } from "./hold.js";
import type { Webhook } from "./webhook.js";

/** What watches the traffic of a proxy, and tells operators of it. */
export interface Watching {
  readonly monitor: Witness;
  /** Where operators reach it; undefined where nothing listens for them. */
  readonly url: string | undefined;
  /** Takes note that the configuration was read anew. */
  noteReload(this: void, outcome: ReloadOutcome): void;
  /** Writes out what is left to write, and ends. May be called again. */
  close(): Promise<void>;
}

/** What the proxy lets itself be asked. */
export interface Asked extends Pick<
  Readings,
  "routes" | "inFlight" | "isDraining" | "fresh" | "processes"
> {
  readonly budget: Pick<HoldBudget, "limit" | "used" | "spilled">;
}

/**
 * Starts to watch: always for mask storms, with a record and a listener where they are configured.
 *
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen for operators.
 */
export async function openWatching(
  { admin, alert, audit: auditOptions, upstream }: Config,
  log: Logger,
  asked: Asked,
): Promise<Watching> {
  const audit = auditOptions === undefined ? undefined : new Audit(auditOptions, log);
  const webhook = await openWebhook(alert.webhook, log);
  const onStorm = webhook && ((message: StormMessage): void => webhook.post(message));
  const monitor = new Monitor({ log, alert, audit, remembers: admin !== undefined, onStorm });
  await audit?.start();
  const end = async (): Promise<void> => {
    await webhook?.close();
    await monitor.close();
  };
  const noteReload = (outcome: ReloadOutcome): void => monitor.reloaded(outcome);
  if (admin === undefined) return { monitor, url: undefined, noteReload, close: end };
  const { budget, ...readings } = asked;
  let door: AdminDoor;
  const { openAdmin } = await import("./admin.js");
  try {
    door = await openAdmin(admin, upstream, monitor, {
      ...readings,
      version: version(),
      startedAt: new Date(),
      upstream: upstream.url,
      alert,
      holdMemoryBytes: budget.limit,
      heldBytes: () => budget.used,
      spilledBytes: () => budget.spilled,
    });
  } catch (error) {
    await end();
    throw error;
  }
  const { url } = door;
  if (door.isExposed) {
    const says = `other machines can reach ${url} and read the status, the metrics and the reasons of masked answers: set MASKGATE_ADMIN_TOKEN`;
    logEvent(log, "warn", "exposed", { url }, says);
  }
  return {
    monitor,
    url,
    noteReload,
    close: async () => {
      await door.close();
      await end();
    },
  };
}

/** Loaded only where there is one, as the operators' listener is: both bring an HTTP client that nothing else needs. */
async function openWebhook(url: string | undefined, log: Logger): Promise<Webhook | undefined> {
  if (url === undefined) return undefined;
  const { createWebhook } = await import("./webhook.js");
  return createWebhook(url, log);
}
