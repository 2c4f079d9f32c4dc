import { Client } from "undici";
import type { UpstreamAddress } from "../config/upstream.js";

/** A client for what maskgate asks the upstream by itself: one connection, and no question takes longer than `patienceMs`. The caller destroys it. */
export function ownClient({ url, connect, ca }: UpstreamAddress, patienceMs: number): Client {
  const socketPath = "socketPath" in connect ? connect.socketPath : undefined;
  return new Client(socketPath === undefined ? url : "http://localhost", {
    connect: {
      timeout: patienceMs,
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(ca === undefined ? {} : { ca }),
    },
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  });
}
