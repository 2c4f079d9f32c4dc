import { connect, type Socket } from "node:net";
import { closeLater } from "./closing.js";
import { type Ending, Incoming } from "./connection.js";
import { answerFraming, type Field, parseHead, readBody } from "./http-bytes.js";

/** A reply as it came over the wire. */
export interface Reply {
  readonly line: string;
  readonly version: string;
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly Field[];
  readonly body: Buffer;
  readonly text: string;
  readonly trailers: readonly Field[];
  /** First lines of the 1xx answers before it. */
  readonly interims: readonly string[];
  /** False when the connection ended before the body did, or a body that ends with it was reset. */
  readonly complete: boolean;
  /** How the connection stood when the reply was read. */
  readonly ended: Ending | "open";
}

/** A client that sends exactly the bytes it is given. */
export class RawClient {
  readonly incoming: Incoming;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.incoming = new Incoming(socket);
  }

  /** Sends bytes; a string is latin-1. */
  write(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Stops reading after the next bytes, so that a large answer stays half sent once the sockets' buffers are full. */
  stall(): void {
    this.#socket.once("data", () => this.#socket.pause());
  }

  /** Reads again after `stall`. */
  resume(): void {
    this.#socket.resume();
  }

  /** Ends this side with a FIN. */
  end(): void {
    this.#socket.end();
  }

  /** Ends both sides with a reset. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Ends both sides without a reset, where the kernel lets it. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Settles when what has come, read as latin-1, holds `text`. Fails when the connection ends first. */
  async sees(text: string): Promise<void> {
    await this.incoming.until(() => {
      const seen = this.incoming.bytes.toString("latin1");
      if (seen.includes(text)) return true;
      if (this.incoming.ending !== undefined) {
        throw new Error(`ended by ${this.incoming.ending} before ${JSON.stringify(text)}: ${seen}`);
      }
      return undefined;
    });
  }

  /** The next reply on this connection; `method` is that of its request. A cut reply comes back as not complete. */
  async reply(method = "GET"): Promise<Reply> {
    const interims: string[] = [];
    let need = 0;
    return this.incoming.until(() => {
      const { ending } = this.incoming;
      if (this.incoming.length < need && ending === undefined) return undefined;
      for (;;) {
        const bytes = this.incoming.bytes;
        const head = parseHead(bytes);
        if (head === undefined) {
          if (ending === undefined) return undefined;
          throw new Error(
            `no reply: ended by ${ending} after ${JSON.stringify(bytes.toString("latin1"))}`,
          );
        }
        const [, version = "", status = "", reason = ""] =
          /^(HTTP\/\d\.\d) (\d{3})(?: (.*))?$/s.exec(head.line) ?? [];
        if (status === "") throw new Error(`no status line: ${head.line}`);
        if (status.startsWith("1") && status !== "101") {
          interims.push(head.line);
          this.incoming.take(head.size);
          continue;
        }
        const framing = answerFraming(method, Number(status), head.fields);
        const read =
          status === "101"
            ? readBody(Buffer.alloc(0), { by: "none" })
            : readBody(bytes.subarray(head.size), framing);
        if (!read.whole && ending === undefined) {
          need = head.size + read.need;
          return undefined;
        }
        const body = Buffer.from(read.body);
        const complete = read.whole || (framing.by === "close" && ending === "fin");
        this.incoming.take(read.whole ? head.size + read.size : bytes.length);
        return {
          line: head.line,
          version,
          status: Number(status),
          reason,
          fields: head.fields,
          body,
          text: body.toString(),
          trailers: read.whole ? read.trailers : [],
          interims,
          complete,
          ended: ending ?? "open",
        };
      }
    });
  }
}

/** A connection to `url`, open until the end of the test. */
export async function openClient(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port),
    noDelay: true,
    allowHalfOpen: true,
  });
  const client = new RawClient(socket);
  closeLater(() => {
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return client;
}

/** Sends `bytes` on a connection of its own and gives the reply; the connection is closed after it. */
export async function rawRequest(url: string, bytes: Uint8Array): Promise<Reply> {
  const client = await openClient(url);
  client.write(bytes);
  const method = Buffer.from(bytes).toString("latin1", 0, 20).split(" ", 1)[0] ?? "";
  const reply = await client.reply(method);
  client.destroy();
  return reply;
}

/**
 * Asks so many times for something else, each time on a connection of its own and until it is answered, so that what was to happen meanwhile, without an event to
 * wait for, has happened.
 */
export async function askMeanwhile(url: string, rounds: number, bytes: Uint8Array): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await rawRequest(url, bytes);
}
