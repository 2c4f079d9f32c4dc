import type { Server } from "node:http";

/** The body of an answer: the same for the same kind, size and id. */
export function bodyOf(kind: string, size: number, id: string): string;

/** A server that answers as the query says, and counts how often each request came. */
export function startStub(): Promise<{
  readonly server: Server;
  readonly deliveries: ReadonlyMap<string, number>;
  readonly url: string;
}>;
