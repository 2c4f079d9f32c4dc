import { once } from "node:events";
import type { WebSocket } from "ws";
import type { Case, Cases } from "./cases.js";
import type { Pair } from "./ground.js";

/** Codes that an application may send (RFC 6455 §7.4), some with a reason, one with the longest. */
const CODES: readonly (readonly [code: number, reason: string])[] = [
  [1000, ""],
  [1000, "done"],
  [1001, "going away"],
  [1002, "protocol"],
  [1003, "no such data"],
  [1007, "not UTF-8"],
  [1008, "policy"],
  [1009, "too big"],
  [1010, "no such extension"],
  [1011, "internal"],
  [1012, "restart"],
  [1013, "later"],
  [1014, "bad gateway"],
  [3000, ""],
  [3999, "superseded 超时"],
  [4000, "é"],
  [4999, "x".repeat(123)],
];

const closed = async (end: WebSocket): Promise<readonly [number, string]> => {
  const [code, reason] = (await once(end, "close")) as [number, Buffer];
  return [code, reason.toString()];
};

const closingBy =
  (by: "client" | "server", code?: number, reason?: string): Case["run"] =>
  async ({ pair }) => {
    const ends = await pair();
    const both = Promise.all([closed(ends.client), closed(ends.server)]);
    ends[by].close(code, reason);
    return both;
  };

/** What one end sees when the other is broken off by `breakOff`. */
const brokenBy =
  (breakOff: (pair: Pair) => unknown, other: "client" | "server"): Case["run"] =>
  async ({ pair }) => {
    const ends = await pair();
    const seen = closed(ends[other]);
    breakOff(ends);
    return seen;
  };

/** A large message with the end of the connection right behind it. */
const endingBy =
  (by: "client" | "server", other: "client" | "server"): Case["run"] =>
  async ({ pair }) => {
    const ends = await pair();
    const message = once(ends[other], "message") as Promise<[Buffer]>;
    const seen = closed(ends[other]);
    ends[by].send(Buffer.alloc(3_000_000, 9), () => ends[`${by}Socket`].end());
    const [data] = await message;
    return [data.equals(Buffer.alloc(3_000_000, 9)), await seen];
  };

const broken = [1006, ""] as const;

/** How a WebSocket may end. */
export const CLOSING: Cases = {
  ...Object.fromEntries(
    CODES.flatMap(([code, reason]) =>
      (["client", "server"] as const).map((by): [string, Case] => [
        `the ${by} closes with ${code} ${reason.slice(0, 20)}`,
        {
          run: closingBy(by, code, reason),
          expected: [
            [code, reason],
            [code, reason],
          ],
        },
      ]),
    ),
  ),
  "the client closes without a code": {
    run: closingBy("client"),
    expected: [
      [1005, ""],
      [1005, ""],
    ],
  },
  "the server closes without a code": {
    run: closingBy("server"),
    expected: [
      [1005, ""],
      [1005, ""],
    ],
  },
  "the client resets": {
    run: brokenBy(({ clientSocket }) => clientSocket.resetAndDestroy(), "server"),
    expected: broken,
  },
  "the server resets": {
    run: brokenBy(({ serverSocket }) => serverSocket.resetAndDestroy(), "client"),
    expected: broken,
  },
  "the client leaves without a close frame": {
    run: brokenBy(({ client }) => client.terminate(), "server"),
    expected: broken,
  },
  "the server leaves without a close frame": {
    run: brokenBy(({ server }) => server.terminate(), "client"),
    expected: broken,
  },
  "the server ends its half behind a large message": {
    run: endingBy("server", "client"),
    expected: [true, broken],
  },
  "the client ends its half behind a large message": {
    run: endingBy("client", "server"),
    expected: [true, broken],
  },
};
