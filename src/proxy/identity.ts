import type { Server } from "node:https";
import type { ListenTls } from "../config/config.js";
import { readIdentity } from "./pem.js";
import { watchConfig } from "../config/watch.js";
import { logEvent, type Logger } from "../observe/log.js";

/**
 * Shows clients the certificate that the files hold from now on, whenever one of them has changed. Certificate and key are often replaced one after the other:
 * while they do not belong together, the former ones stay.
 *
 * @returns how to stop.
 */
export function followIdentity(server: Server, files: ListenTls, log: Logger): () => void {
  const renewed = async (): Promise<void> => {
    try {
      server.setSecureContext(await readIdentity(files));
      logEvent(log, "info", "certificate_applied", { ...files }, "a new certificate is shown");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const says = `the former certificate is still shown: ${why}`;
      logEvent(log, "error", "certificate_refused", { ...files }, says);
    }
  };
  const renew = (): void => {
    void renewed();
  };
  const stops = [files.cert, files.key].map((file) => watchConfig(file, renew));
  return () => {
    for (const stop of stops) stop();
  };
}
