import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CLIENT_KEEP_ALIVE_MS } from "./limits.js";

/** How many requests may wait on a connection before no more of it is read, and nobody notices any more that its client leaves. */
const MOST_WAITING = 100;

/** The replies of each connection that have not been sent yet, in the order of their requests, and how to begin with each. */
const unsent = new WeakMap<Duplex, Map<ServerResponse, () => void>>();

/**
 * Keeps account of a reply until it is closed, and begins with its request once every earlier one has been answered. Requests that a client sends one behind the
 * other without waiting may only be served side by side where none changes anything (RFC 9112 §9.3.2), and servers serve them in turn. Node tells only
 * the first reply that the connection has closed; the others are told here.
 */
export function inTurn(socket: Duplex, reply: ServerResponse, begin: () => void): void {
  const replies = unsent.get(socket) ?? followConnection(socket);
  replies.set(reply, begin);
  reply.once("close", () => {
    const wasFirst = firstOf(replies.keys()) === reply;
    replies.delete(reply);
    // Behind a reply that ends its connection nothing more is served.
    if (wasFirst && socket.writable) firstOf(replies.values())?.();
    if (replies.size === MOST_WAITING) socket.resume();
    if (socket.writable && !reply.req.complete) leaveTime(socket, reply.req);
  });
  if (replies.size > MOST_WAITING) socket.pause();
  if (replies.size === 1) begin();
}

/** Has an upload that was answered before its end take any time, as others may: Node would count the connection as idle, and end it. */
function leaveTime(socket: Duplex, request: IncomingMessage): void {
  request.socket.setTimeout(0);
  request.once("end", () => {
    if (unsentOn(socket).length === 0) request.socket.setTimeout(CLIENT_KEEP_ALIVE_MS);
  });
}

function firstOf<T>(values: Iterable<T>): T | undefined {
  const [first] = values;
  return first;
}

function followConnection(socket: Duplex): Map<ServerResponse, () => void> {
  const replies = new Map<ServerResponse, () => void>();
  unsent.set(socket, replies);
  socket.once("close", () => {
    for (const reply of [...replies.keys()]) {
      if (reply.socket === null && !reply.writableFinished) reply.destroy().emit("close");
    }
  });
  return replies;
}

/** The replies on this connection that have not been sent yet. */
function unsentOn(socket: Duplex): readonly ServerResponse[] {
  return [...(unsent.get(socket)?.keys() ?? [])];
}

/**
 * Resolves when every reply to an earlier request has been sent on a connection that Node has handed over, for an upgrade or a tunnel; undefined where all have.
 */
export function earlierReplies(socket: Duplex): Promise<unknown> | undefined {
  const replies = unsentOn(socket);
  if (replies.length === 0) return undefined;
  // Node has let go of the connection, and does not tell the reply that is being sent that there is room again.
  const tell = (): void => void replies.find((reply) => reply.socket !== null)?.emit("drain");
  socket.on("drain", tell);
  return sent(replies)?.finally(() => socket.off("drain", tell));
}

/**
 * Reads a connection that Node has handed over. Where a reply had no room, Node has stopped to read it in a way that the stream does not know of, and
 * `resume` alone starts nothing.
 */
export function readOn(socket: Duplex): void {
  socket.resume();
  socket._read(0);
}

/** Resolves when every reply to a request that has come whole has been sent: a refusal of what follows, or of a request that is still coming, goes behind them. */
export function repliesToWhole(socket: Duplex): Promise<unknown> | undefined {
  return sent(unsentOn(socket).filter((reply) => reply.req.complete));
}

/** Whether a reply on this connection has begun and not ended: whatever else is written there would be taken for part of it. */
export function hasBegun(socket: Duplex): boolean {
  return unsentOn(socket).some((reply) => reply.headersSent);
}

function sent(replies: readonly ServerResponse[]): Promise<unknown> | undefined {
  if (replies.length === 0) return undefined;
  return Promise.all(
    replies.map(async (reply) => new Promise((resolve) => reply.once("close", resolve))),
  );
}

/**
 * Keeps a client's connection paused that was paused. Node resumes it at the end of each request, but only in the next tick; where the body of the request
 * behind it has paused it again by then, Node would read on all the same, and keep in memory all that the client sends.
 */
export function stayPaused(socket: Duplex): void {
  // A connection that declined an upgrade is given to the server once more.
  socket.off("resume", pauseAgain).on("resume", pauseAgain);
}

function pauseAgain(this: Duplex): void {
  // By now `pause` would do nothing, since the stream counts as paused; it is the handle that still reads.
  if (this.isPaused()) this.emit("pause");
  else if ((unsent.get(this)?.size ?? 0) > MOST_WAITING) this.pause();
}

/**
 * Has Node not pause its parser at a request whose client takes its replies slowly. Over TLS it gives the parser all the same what it has read and not yet
 * passed on, and a paused parser takes that for an error: the request would be refused, and the reply before it cut. What is kept meanwhile has its bounds here.
 */
export function keepParsing(socket: Socket & { _paused?: boolean }): void {
  socket._paused = false;
}

/** Ends a connection with a reset, which no client takes for the end of an answer. Over TLS only the connection that carries it has one: Node throws otherwise. */
export function reset(socket: Socket & { readonly _parent?: Socket | null }): void {
  const carrier = "encrypted" in socket ? socket._parent : socket;
  if (carrier) carrier.resetAndDestroy();
  else socket.destroy();
}
