import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { closeLater } from "./closing.js";
import { type Ending, Incoming } from "./connection.js";
import { deferred } from "./deferred.js";
import { type Field, parseHead, readBody, requestFraming } from "./http-bytes.js";

/** A request exactly as it reached the upstream. */
export interface Received {
  readonly line: string;
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  /** Grows until `whole`. */
  readonly body: Buffer;
  readonly trailers: readonly Field[];
  readonly whole: boolean;
  /** Which connection brought it, counted from 0. */
  readonly connection: number;
}

/** One request at the upstream, with full control over the bytes of its answer. */
export interface Exchange {
  readonly received: Received;
  /** Settles with the last byte of the request. */
  readonly whole: Promise<Received>;
  /** Settles when this many bytes of the body are there. */
  readonly has: (size: number) => Promise<void>;
  /** Settles when the other side ends the connection. */
  readonly gone: Promise<Ending>;
  /** Sends bytes; a string is latin-1. */
  readonly write: (bytes: string | Uint8Array) => void;
  /** Ends the connection with a FIN, after `bytes`. */
  readonly end: (bytes?: string | Uint8Array) => void;
  /** Ends the connection with a reset. */
  readonly reset: () => void;
  /** Settles when all that was written has been handed to the kernel. */
  readonly flushed: () => Promise<void>;
}

/** Runs as soon as a request's head is there. */
export type Script = (exchange: Exchange) => unknown;

/** A server that sends exactly the bytes it is told and keeps every request it was given. */
export interface Upstream {
  readonly url: string;
  readonly port: number;
  /** Every request whose head came, in order of arrival. */
  readonly requests: readonly Received[];
  /** All bytes that came, on any connection. */
  readonly bytesIn: number;
  /** How many connections are open, and how many ever were. */
  readonly open: number;
  readonly opened: number;
  /** The `n`-th request (from 1), as soon as its head is there. */
  arrived(n?: number): Promise<Exchange>;
  /** Settles when no connection is open. */
  quiet(): Promise<void>;
  /** Closes every connection that waits for its next request. */
  dropIdle(): void;
  close(): Promise<void>;
}

interface Where {
  readonly port?: number;
  readonly host?: string;
  readonly path?: string;
}

const toBytes = (bytes: string | Uint8Array): Uint8Array =>
  typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;

/** Starts an upstream. Bytes instead of a script are the answer to every request, once it came whole. */
export async function startUpstream(
  script: Script | string | Uint8Array,
  where: Where = {},
): Promise<Upstream> {
  const run: Script =
    typeof script === "function"
      ? script
      : async (exchange) => {
          await exchange.whole;
          exchange.write(script);
        };
  const exchanges: Exchange[] = [];
  const sockets = new Map<Socket, { idle: boolean }>();
  const watchers = new Set<() => void>();
  let bytesIn = 0;
  let opened = 0;
  const wake = (): void => {
    for (const look of [...watchers]) look();
  };

  const until = async <T>(ready: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = (): void => {
        const value = ready();
        if (value === undefined) return;
        watchers.delete(look);
        resolve(value);
      };
      watchers.add(look);
      look();
    });

  const serve = async (
    socket: Socket,
    connection: number,
    state: { idle: boolean },
  ): Promise<void> => {
    const incoming = new Incoming(socket);
    void incoming.ended.then(() => socket.end());
    for (;;) {
      state.idle = true;
      const head = await incoming.until(() => {
        const found = parseHead(incoming.bytes);
        return found ?? (incoming.ending === undefined ? undefined : null);
      });
      if (head === null) return;
      state.idle = false;
      incoming.take(head.size);
      const [method = "", target = ""] = head.line.split(" ");
      const framing = requestFraming(head.fields);
      const received = {
        line: head.line,
        method,
        target,
        fields: head.fields,
        body: Buffer.alloc(0) as Buffer,
        trailers: [] as readonly Field[],
        whole: false,
        connection,
      };
      const whole = deferred<Received>();
      const exchange: Exchange = {
        received,
        whole: whole.promise,
        has: async (size) =>
          until(() => (received.body.length < size ? undefined : true)).then(() => undefined),
        gone: incoming.ended,
        write: (bytes) => socket.write(toBytes(bytes)),
        end: (bytes) => (bytes === undefined ? socket.end() : socket.end(toBytes(bytes))),
        reset: () => socket.resetAndDestroy(),
        flushed: async () => new Promise((resolve) => socket.write("", () => resolve())),
      };
      exchanges.push(exchange);
      wake();
      void Promise.resolve(exchange)
        .then(run)
        .catch((error: unknown) => socket.destroy(error as Error));
      const read = await incoming.until(() => {
        const now = readBody(incoming.bytes, framing);
        received.body = now.body;
        wake();
        return now.whole ? now : incoming.ending === undefined ? undefined : null;
      });
      if (read === null) return;
      received.body = Buffer.from(read.body);
      received.trailers = read.trailers;
      received.whole = true;
      incoming.take(read.size);
      whole.resolve(received);
      wake();
    }
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const state = { idle: true };
    sockets.set(socket, state);
    socket.on("data", (data: Buffer) => {
      bytesIn += data.length;
    });
    socket.once("close", () => {
      sockets.delete(socket);
      wake();
    });
    void serve(socket, opened++, state);
  });
  if (where.path === undefined) server.listen(where.port ?? 0, where.host ?? "127.0.0.1");
  else server.listen(where.path);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const host = where.host?.includes(":") === true ? `[${where.host}]` : (where.host ?? "127.0.0.1");

  const close = async (): Promise<void> => {
    for (const socket of sockets.keys()) socket.destroy();
    if (!server.listening) return;
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  closeLater(close);

  return {
    url: where.path === undefined ? `http://${host}:${port}` : `unix:${where.path}`,
    port,
    get requests() {
      return exchanges.map(({ received }) => received);
    },
    get bytesIn() {
      return bytesIn;
    },
    get open() {
      return sockets.size;
    },
    get opened() {
      return opened;
    },
    arrived: async (n = 1) => until(() => exchanges[n - 1]),
    quiet: async () => until(() => (sockets.size === 0 ? true : undefined)).then(() => undefined),
    dropIdle: () => {
      for (const [socket, state] of sockets) if (state.idle) socket.destroy();
    },
    close,
  };
}

/** A port on which nothing listens: it was free a moment ago. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}
