import type { Worker } from "node:cluster";

/** A connection on its way to a worker, as Node's cluster module sends it and has it acknowledged. */
interface Internal {
  readonly act?: string;
  readonly seq: number;
  readonly ack?: number;
}

type Handle = { close(): void } | undefined;

/**
 * Closes what a worker has not acknowledged when it ends: Node keeps its own copy of a connection until the worker says that it has it, and one that is killed
 * never does, so the client would wait for ever.
 */
export function closeUnacknowledged({ process: child }: Worker): void {
  const onTheWay = new Map<number, Handle>();
  const send = child.send.bind(child) as (message: object, ...rest: unknown[]) => boolean;
  child.send = (message: object, ...rest: unknown[]): boolean => {
    const { act, seq } = message as Internal;
    if (act === "newconn") onTheWay.set(seq, rest[0] as Handle);
    return send(message, ...rest);
  };
  child.on("internalMessage", ({ ack }: Internal) => {
    if (ack !== undefined) onTheWay.delete(ack);
  });
  // Only then has its last word been read: what it refused may be on its way to another one. `disconnect` waits for what is on the way, and so never comes.
  child.once("close", () => {
    for (const handle of onTheWay.values()) handle?.close();
  });
}
