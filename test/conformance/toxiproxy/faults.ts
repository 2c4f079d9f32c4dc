import type { Toxic } from "./server.js";

/** Where a fault cuts an answer, as a client sees it that has nothing before it. */
export type Cut = "nowhere" | "before its header is whole" | "in its body";

/** What happens to each connection to the upstream. */
export interface Fault {
  readonly toxics: readonly Toxic[];
  readonly cut: Cut;
}

const toxic =
  (stream: Toxic["stream"]) =>
  (type: string, attributes: Toxic["attributes"] = {}): Toxic => ({ type, stream, attributes });
const down = toxic("downstream");
const up = toxic("upstream");

/** Every toxic that toxiproxy 2.12.0 has, on the way to the upstream and on the way back. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "no toxic": { toxics: [], cut: "nowhere" },
  "latency of answers": {
    toxics: [down("latency", { latency: 100, jitter: 50 })],
    cut: "nowhere",
  },
  "latency of requests": {
    toxics: [up("latency", { latency: 100, jitter: 50 })],
    cut: "nowhere",
  },
  "bandwidth of answers": { toxics: [down("bandwidth", { rate: 5_000 })], cut: "nowhere" },
  "bandwidth of requests": { toxics: [up("bandwidth", { rate: 2_000 })], cut: "nowhere" },
  "sliced answers": {
    toxics: [down("slicer", { average_size: 500, size_variation: 400, delay: 10 })],
    cut: "nowhere",
  },
  "sliced requests": {
    toxics: [up("slicer", { average_size: 500, size_variation: 400, delay: 10 })],
    cut: "nowhere",
  },
  "slow close": { toxics: [down("slow_close", { delay: 200 })], cut: "nowhere" },
  "all of them": {
    toxics: [
      up("latency", { latency: 20, jitter: 10 }),
      up("slicer", { average_size: 2_000, size_variation: 1_000, delay: 10 }),
      down("slicer", { average_size: 2_000, size_variation: 1_000, delay: 10 }),
      down("bandwidth", { rate: 5_000 }),
    ],
    cut: "nowhere",
  },
  "limit_data in the header": {
    toxics: [down("limit_data", { bytes: 20 })],
    cut: "before its header is whole",
  },
  "limit_data in the body": { toxics: [down("limit_data", { bytes: 1_000 })], cut: "in its body" },
  "limit_data in the request": {
    toxics: [up("limit_data", { bytes: 1_000 })],
    cut: "before its header is whole",
  },
  "sliced and cut in the body": {
    toxics: [
      down("slicer", { average_size: 200, size_variation: 100, delay: 10 }),
      down("limit_data", { bytes: 4_000 }),
    ],
    cut: "in its body",
  },
  "reset_peer before the answer": {
    toxics: [down("reset_peer", { timeout: 0 })],
    cut: "before its header is whole",
  },
  "reset_peer before the answer, after a time": {
    toxics: [down("reset_peer", { timeout: 100 })],
    cut: "before its header is whole",
  },
  "reset_peer in the request": {
    toxics: [up("reset_peer", { timeout: 0 })],
    cut: "before its header is whole",
  },
  "timeout of answers": {
    toxics: [down("timeout", { timeout: 100 })],
    cut: "before its header is whole",
  },
  "timeout of requests": {
    toxics: [up("timeout", { timeout: 100 })],
    cut: "before its header is whole",
  },
};
