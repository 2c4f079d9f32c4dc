import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Admin } from "../config/config.js";
import type { UpstreamAddress } from "../config/upstream.js";
import { hasToken } from "../observe/bearer.js";
import type { Monitor } from "../observe/monitor.js";
import { PAGE_FILES, readPageFile } from "../observe/page.js";
import type { Readings } from "../observe/readings.js";
import { statusOf } from "../observe/status.js";
import { streamEvents } from "./admin-events.js";
import { isOwnName } from "./admin-host.js";
import { createReadiness } from "./readiness.js";
import { isExposed, listen } from "./server.js";

/** The listener for operators. */
export interface AdminDoor {
  readonly url: string;
  /** Whoever reaches it from another machine reads everything. */
  readonly isExposed: boolean;
  close(): Promise<void>;
}

/** Answers one path; what it returns is sent, unless it sends by itself. */
type Answer = (reply: ServerResponse) => Promise<AdminReply | undefined>;

interface AdminReply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
}

const JSON_TYPE = "application/json; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";

const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/** Probes and the bare page, which holds no data, are for everybody. */
const OPEN: ReadonlySet<string> = new Set(["/healthz", "/readyz", ...PAGE_FILES.keys()]);

/**
 * Opens the listener for operators: a server of its own, which clients never reach. It only reads.
 *
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen there.
 */
export async function openAdmin(
  admin: Admin,
  upstream: UpstreamAddress,
  monitor: Monitor,
  readings: Readings,
): Promise<AdminDoor> {
  // Loaded only here, so that who has no use for metrics starts without them.
  const { createMetrics } = await import("../observe/metrics.js");
  const metrics = createMetrics(monitor, readings);
  const readiness = createReadiness(upstream);

  const ready = async (): Promise<AdminReply> => {
    if (readings.isDraining()) return text(503, "draining: what is in flight may finish");
    const { ready: answers, detail } = await readiness.ask();
    return text(answers ? 200 : 503, detail);
  };
  const answers = new Map<string, Answer>([
    ["/healthz", async () => text(200, "ok")],
    ["/readyz", ready],
    [
      "/metrics",
      async () => {
        await readings.fresh?.();
        return { status: 200, type: metrics.contentType, body: await metrics.text() };
      },
    ],
    [
      "/status",
      async () => {
        await readings.fresh?.();
        return json(statusOf(monitor, readings));
      },
    ],
    [
      "/events",
      async (reply) => {
        await streamEvents(reply, HEADERS, monitor, readings);
        return undefined;
      },
    ],
    ...[...PAGE_FILES].map(([path, file]): [string, Answer] => [
      path,
      async () => ({ status: 200, type: file.type, body: await readPageFile(file) }),
    ]),
  ]);

  const server = http.createServer((request, reply) => {
    handle(admin, answers, request, reply).catch(() => reply.destroy());
  });
  const port = await listen(server, admin.host, admin.port, "--admin-").catch(
    async (error: unknown) => {
      await readiness.close();
      throw error;
    },
  );
  const closed = async (): Promise<void> => {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await Promise.all([ended, readiness.close()]);
  };
  let closing: Promise<void> | undefined;
  return {
    url: `http://${admin.host.includes(":") ? `[${admin.host}]` : admin.host}:${port}`,
    isExposed: admin.token === undefined && isExposed(server),
    close: () => (closing ??= closed()),
  };
}

async function handle(
  admin: Admin,
  answers: ReadonlyMap<string, Answer>,
  request: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const path = (request.url ?? "/").split("?", 1)[0]!;
  const answer = answers.get(path);
  const { token } = admin;
  if (token === undefined && !isOwnName(admin.host, request.headers.host)) {
    const says = `this listener has no name but its address and localhost`;
    send(request, reply, text(421, says));
  } else if (answer === undefined) {
    send(request, reply, text(404, `there is ${[...answers.keys()].join(", ")}`));
  } else if (request.method !== "GET" && (request.method !== "HEAD" || path === "/events")) {
    reply.setHeader("allow", path === "/events" ? "GET" : "GET, HEAD");
    send(request, reply, text(405, "this listener only reads"));
  } else if (
    token !== undefined &&
    !OPEN.has(path) &&
    !hasToken(request.headers.authorization, token)
  ) {
    reply.setHeader("www-authenticate", "Bearer");
    send(request, reply, text(401, "Authorization: Bearer with the configured token is asked for"));
  } else {
    // Of requests sent one behind the other each is answered in its turn: a reader that does not read would fill the memory.
    if (reply.socket === null) await once(reply, "socket");
    const made = await answer(reply);
    if (made !== undefined) send(request, reply, made);
  }
}

function send(request: IncomingMessage, reply: ServerResponse, made: AdminReply): void {
  const { status, type, body } = made;
  const length = Buffer.byteLength(body);
  reply.writeHead(status, { ...HEADERS, "content-type": type, "content-length": length });
  reply.end(request.method === "HEAD" ? undefined : body);
}

function text(status: number, says: string): AdminReply {
  return { status, type: TEXT_TYPE, body: `${says}\n` };
}

function json(value: object): AdminReply {
  return { status: 200, type: JSON_TYPE, body: `${JSON.stringify(value)}\n` };
}
