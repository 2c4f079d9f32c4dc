import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { gridDay, readSchedule, score } from "./grid.js";

/** A running GridSim server. */
export interface GridServer {
  /** Its base URL, `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Stops listening and ends the connections that are open. */
  close(): Promise<void>;
}

type Episode = "ready" | `reset timed out after ${number} s`;

const COOKIE = "GridSimServer___gridsim";
const RESET_MS = 25;

const row = z.object({ day: z.int(), reset_timeout: z.number().positive() });
const verifyRequest = row.extend({
  responses_create_params: z.unknown(),
  response: z.looseObject({
    output: z.array(z.object({ content: z.array(z.object({ text: z.string() })) })),
  }),
});

/**
 * Starts a resources server for GridSim on a free loopback port: `/seed_session` and `/verify` with
 * the members, the session cookie and the header order of a nemo-gym 0.7.0 server. A reset that does
 * not end within the row's `reset_timeout` (seconds) makes `/verify` mask the day.
 * It holds every session until it is closed: it is for a demonstration, not for training.
 */
export async function startGridServer(): Promise<GridServer> {
  const episodes = new Map<string, Episode>();
  const server = createServer((request, answer) => {
    serve(request, answer, episodes).catch((error: unknown) => {
      send(answer, 422, JSON.stringify({ detail: [{ msg: String(error) }] }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  answer: ServerResponse,
  episodes: Map<string, Episode>,
): Promise<void> {
  const body = await readBody(request);
  const session = readSession(request) ?? randomUUID();
  const cookie = `${COOKIE}=${session}; path=/; Max-Age=1209600; httponly; samesite=lax`;
  if (request.method !== "POST")
    return send(answer, 405, '{"detail":"Method Not Allowed"}', cookie);
  if (request.url === "/seed_session") {
    const { reset_timeout: seconds } = row.parse(JSON.parse(body));
    episodes.set(session, await reset(seconds));
    return send(answer, 200, "{}", cookie);
  }
  if (request.url === "/verify") {
    const { response, responses_create_params, ...task } = verifyRequest.parse(JSON.parse(body));
    const text = response.output.at(-1)?.content.at(-1)?.text ?? "";
    const verdict = judge(task.day, text, episodes.get(session));
    return send(
      answer,
      200,
      JSON.stringify({ responses_create_params, response, ...verdict, ...task }),
      cookie,
    );
  }
  return send(answer, 404, '{"detail":"Not Found"}', cookie);
}

function judge(day: number, text: string, episode: Episode | undefined) {
  if (episode === undefined) return masked("session_lost", "no episode was seeded");
  if (episode !== "ready") return masked("provider_unavailable", episode);
  const schedule = readSchedule(text);
  const reward = schedule === undefined ? 0 : score(gridDay(day), schedule);
  return { reward, mask_sample: false, failure_kind: null, failure_reason: null };
}

function masked(kind: string, reason: string) {
  return { reward: 0, mask_sample: true, failure_kind: kind, failure_reason: reason };
}

// One timer for whichever comes first: of two, a busy machine may fire the later one first.
function reset(timeoutSeconds: number): Promise<Episode> {
  const limitMs = timeoutSeconds * 1000;
  const [afterMs, outcome]: [number, Episode] =
    limitMs < RESET_MS
      ? [limitMs, `reset timed out after ${timeoutSeconds} s`]
      : [RESET_MS, "ready"];
  return new Promise((resolve) => {
    setTimeout(resolve, afterMs, outcome);
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function readSession(request: IncomingMessage): string | undefined {
  const pairs = (request.headers.cookie ?? "").split(/;\s*/);
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
}

function send(answer: ServerResponse, status: number, body: string, cookie?: string): void {
  const headers = [
    ["date", new Date().toUTCString()],
    ["server", "maskgate-demo"],
    ["content-length", String(Buffer.byteLength(body))],
    ["content-type", "application/json"],
    ...(cookie === undefined
      ? []
      : [
          ["vary", "Cookie"],
          ["set-cookie", cookie],
        ]),
  ];
  answer.writeHead(status, headers.flat()).end(body);
}
