import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { pino } from "pino";
import { createMaskgate } from "../../src/index.js";
import type { MaskgateOptions } from "../../src/index.js";

/** What stands between a suite and the server that it tests. */
export interface Front {
  /** Where the suite finds its server. */
  readonly url: string;
  /** The requests and connections that maskgate has carried until now; 0 where there is no maskgate. */
  carried(): number;
  /** What maskgate has in flight now; 0 where there is no maskgate. */
  inFlight(): number;
  close(): Promise<void>;
}

/** Puts something before a server. */
export type PutBefore = (upstream: string) => Promise<Front>;

/** Puts nothing before a server. */
export const direct: PutBefore = (upstream) =>
  Promise.resolve({
    url: upstream,
    carried: () => 0,
    inFlight: () => 0,
    close: () => Promise.resolve(),
  });

/** Puts a maskgate with these options before a server. It counts the lines that its log has for served and for abandoned requests. */
export function through(options: Omit<MaskgateOptions, "upstream" | "logger"> = {}): PutBefore {
  return async (upstream) => {
    let carried = 0;
    const destination = new Writable({
      write: (line: Buffer, _, done) => {
        const { event } = JSON.parse(line.toString()) as { event: string };
        if (event === "request" || event === "client_gone") carried += 1;
        done();
      },
    });
    const logger = pino({ level: "debug" }, destination);
    const gate = await createMaskgate({ ...options, upstream, logger });
    return {
      url: gate.url,
      carried: () => carried,
      inFlight: () => gate.inFlight(),
      close: () => gate.close(),
    };
  };
}

/** Puts a front before each server that a suite in another process names: it posts the server's URL to `control` and gets the front's. */
export async function startFronts(
  putBefore: PutBefore,
): Promise<{ readonly control: string; carried(): number; close(): Promise<void> }> {
  const fronts: Front[] = [];
  const open = async (request: IncomingMessage): Promise<string> => {
    const named = (await request.setEncoding("utf8").toArray()) as string[];
    const front = await putBefore(named.join(""));
    fronts.push(front);
    return front.url;
  };
  const server = createServer((request, reply) => {
    open(request).then(
      (url) => reply.end(url),
      (error: unknown) => reply.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    control: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    carried: () => fronts.reduce((sum, front) => sum + front.carried(), 0),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await Promise.all(fronts.map((front) => front.close()));
    },
  };
}
