import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type ClientOptions, type ServerOptions, WebSocket, WebSocketServer } from "ws";

/** Both ends of one WebSocket, open. */
export interface Pair {
  readonly client: WebSocket;
  readonly server: WebSocket;
  /** The connections under them. */
  readonly clientSocket: Socket;
  readonly serverSocket: Socket;
  /** The upgrade as it reached the server. */
  readonly request: IncomingMessage;
}

/** How a pair is opened. */
export interface Opening {
  readonly protocols?: string[];
  readonly client?: ClientOptions;
  readonly server?: ServerOptions;
  readonly path?: string;
}

/** What the server does with an upgrade. */
type Upgraded = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

/** A server for WebSockets, and clients that reach it by what stands before it. */
export interface Ground {
  /** Where clients find it. */
  readonly url: string;
  /** Opens a WebSocket and gives both its ends. */
  pair(this: void, opening?: Opening): Promise<Pair>;
  /** Lets the server do this with the next upgrade. */
  onUpgrade(this: void, upgraded: Upgraded): void;
}

/** A server to which nothing has come. */
export async function startServer(onArrival: () => void): Promise<{
  readonly url: string;
  at(url: string): Ground;
  close(): void;
}> {
  let upgraded: Upgraded | undefined;
  const server = createServer();
  server.on("upgrade", (request, socket: Socket, head) => {
    onArrival();
    socket.on("error", () => undefined);
    upgraded?.(request, socket, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const pairAt = async (url: string, opening: Opening): Promise<Pair> => {
    const sockets = new WebSocketServer({ noServer: true, ...opening.server });
    const served = new Promise<Omit<Pair, "client" | "clientSocket">>((resolve) => {
      upgraded = (request, serverSocket, head) => {
        sockets.handleUpgrade(request, serverSocket, head, (end) => {
          end.on("error", () => undefined);
          resolve({ server: end, serverSocket, request });
        });
      };
    });
    const target = `${url.replace("http", "ws")}${opening.path ?? "/"}`;
    const client = new WebSocket(target, opening.protocols ?? [], opening.client);
    client.on("error", () => undefined);
    const opened = once(client, "upgrade") as Promise<[IncomingMessage]>;
    await once(client, "open");
    const [{ socket: clientSocket }] = await opened;
    return { client, clientSocket, ...(await served) };
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    at: (url) => ({
      url,
      pair: async (opening = {}) => pairAt(url, opening),
      onUpgrade: (next) => {
        upgraded = next;
      },
    }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
