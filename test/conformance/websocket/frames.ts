import { once } from "node:events";
import type { RawData, WebSocket } from "ws";
import type { Case, Cases } from "./cases.js";
import type { Ground, Opening } from "./ground.js";

/** Around every limit of the three ways in which a frame gives its length (RFC 6455 §5.2), and larger than any buffer. */
const SIZES = [0, 1, 125, 126, 65_535, 65_536, 1_048_576, 16_777_216];
const WAYS = [
  ["client", "server"],
  ["server", "client"],
] as const;

const nextMessage = async (end: WebSocket): Promise<readonly [data: Buffer, binary: boolean]> => {
  const [data, binary] = (await once(end, "message")) as [Buffer, boolean];
  return [data, binary];
};

/** Bytes in which no two places look alike. */
function bytesOf(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at += 1) bytes[at] = (at * 31 + (at >> 8) * 17) & 255;
  return bytes;
}

const both = (make: (from: "client" | "server", to: "client" | "server") => Case): Cases =>
  Object.fromEntries(WAYS.map(([from, to]) => [`from the ${from}`, make(from, to)]));

const named = (name: string, cases: Cases): Cases =>
  Object.fromEntries(Object.entries(cases).map(([way, one]) => [`${name} ${way}`, one]));

const message = (size: number): Cases =>
  both((from, to) => ({
    run: async ({ pair }) => {
      const ends = await pair();
      const came = nextMessage(ends[to]);
      ends[from].send(bytesOf(size));
      const [data, binary] = await came;
      ends.client.terminate();
      return [data.equals(bytesOf(size)), binary];
    },
    expected: [true, true],
  }));

const control = (kind: "ping" | "pong", size: number): Cases =>
  both((from, to) => ({
    run: async ({ pair }) => {
      const ends = await pair();
      const came = once(ends[to], kind) as Promise<[Buffer]>;
      const back = kind === "ping" ? (once(ends[from], "pong") as Promise<[Buffer]>) : came;
      ends[from][kind](bytesOf(size));
      const seen = [...(await came), ...(await back)].map((data) => data.equals(bytesOf(size)));
      ends.client.terminate();
      return seen;
    },
    expected: [true, true],
  }));

const fragments = both((from, to) => ({
  run: async ({ pair }) => {
    const ends = await pair();
    const came = nextMessage(ends[to]);
    const between = once(ends[to], "ping") as Promise<[Buffer]>;
    ends[from].send("one ", { fin: false });
    ends[from].send("", { fin: false });
    ends[from].ping("between");
    ends[from].send("zwei 超", { fin: false });
    ends[from].send("时", { fin: true });
    const [data, binary] = await came;
    const [ping] = await between;
    ends.client.terminate();
    return [data.toString(), binary, ping.toString()];
  },
  expected: ["one zwei 超时", false, "between"],
}));

/** Both ends talk at once, and every message comes in its order. */
async function talk({ pair }: Ground, opening: Opening = {}): Promise<unknown> {
  const ends = await pair(opening);
  const texts = Array.from({ length: 1_000 }, (_, n) => `${n} ${"x".repeat(n)}`);
  const heard = async (end: WebSocket): Promise<boolean> => {
    const got: string[] = [];
    await new Promise<void>((resolve) => {
      end.on("message", (data: RawData) => {
        if (got.push((data as Buffer).toString()) === texts.length) resolve();
      });
    });
    return got.join("\n") === texts.join("\n");
  };
  const all = Promise.all([heard(ends.client), heard(ends.server)]);
  for (const text of texts) {
    ends.client.send(text);
    ends.server.send(text);
  }
  const result = [...(await all), ends.client.extensions];
  ends.client.terminate();
  return result;
}

async function many(ground: Ground): Promise<unknown> {
  const ends = [];
  for (let n = 0; n < 300; n += 1) ends.push(await ground.pair());
  for (const { server } of ends) server.on("message", (data) => server.send(data as Buffer));
  const counts = await Promise.all(
    ends.map(async ({ client }, n) => {
      let same = 0;
      for (let turn = 0; turn < 10; turn += 1) {
        const back = nextMessage(client);
        client.send(`${n} ${turn}`);
        same += (await back)[0].toString() === `${n} ${turn}` ? 1 : 0;
      }
      return same;
    }),
  );
  for (const { client } of ends) client.terminate();
  return counts.reduce((sum, count) => sum + count, 0);
}

const deflate = (
  client: Opening["client"],
  server: Opening["server"],
  extensions: string,
): Case => ({
  run: async (ground) => talk(ground, { ...(client && { client }), ...(server && { server }) }),
  expected: [true, true, extensions],
});

/** What may be said while it is open. */
export const FRAMES: Cases = {
  ...Object.assign({}, ...SIZES.map((size) => named(`${size} bytes`, message(size)))),
  ...named("ping", control("ping", 0)),
  ...named("ping with the longest payload", control("ping", 125)),
  ...named("a pong that nobody asked for", control("pong", 5)),
  ...named("fragments with a ping between them", fragments),
  "both ends at once": { run: async (ground) => talk(ground), expected: [true, true, ""] },
  "300 at once": { run: many, expected: 3_000 },
  "permessage-deflate": deflate(
    { perMessageDeflate: true },
    { perMessageDeflate: { threshold: 0 } },
    "permessage-deflate",
  ),
  "permessage-deflate without contexts": deflate(
    { perMessageDeflate: { clientNoContextTakeover: true, serverNoContextTakeover: true } },
    { perMessageDeflate: { threshold: 0, serverMaxWindowBits: 10 } },
    "permessage-deflate",
  ),
  "permessage-deflate that the server declines": deflate({ perMessageDeflate: true }, {}, ""),
  "permessage-deflate that nobody offers": deflate(
    { perMessageDeflate: false },
    { perMessageDeflate: true },
    "",
  ),
};
