import { createHash } from "node:crypto";
import { type RawHeaders, valuesOf } from "../http/headers.js";

/** `<task>-<sample>` and `-a<attempt>` behind it for a retry (nemo_gym/rollout_correlation.py). */
const ROLLOUT_ID = /^(.+)-\d+(?:-a\d+)?$/;

/** The task part of a rollout id: the same for all samples of one group and all their retries; undefined for an id of another form. */
export function taskOf(rolloutId: string): string | undefined {
  return ROLLOUT_ID.exec(rolloutId)?.[1];
}

/** The key of a task that only its row tells: all members of a group echo the same `responses_create_params`. */
export function rowKey(responsesCreateParams: Uint8Array): string {
  const row = startRowKey();
  row.add(responsesCreateParams);
  return row.key();
}

/** The same key, from a row that comes in pieces. */
export interface RowKey {
  add(this: void, piece: Uint8Array): void;
  key(this: void): string;
}

/** The key of a row of which nothing has come yet. */
export function startRowKey(): RowKey {
  const hash = createHash("sha256");
  return { add: (piece) => void hash.update(piece), key: () => hash.digest("hex") };
}

/**
 * The session that the server used, from the cookie it sends with every answer (`<Class>___<name>=<payload>.<time>.<signature>`): the payload alone, because
 * time and signature change with each answer; undefined where there is no such cookie.
 */
export function sessionOf(answer: RawHeaders): string | undefined {
  for (const cookie of valuesOf(answer, "set-cookie")) {
    const payload = payloadOf(cookie);
    if (payload) return payload;
  }
  return undefined;
}

function payloadOf(cookie: string): string | undefined {
  const [pair = ""] = cookie.split(";", 1);
  const equals = pair.indexOf("=");
  if (equals < 0 || !pair.slice(0, equals).includes("___")) return undefined;
  return pair
    .slice(equals + 1)
    .replace(/^"/, "")
    .split(/[."]/, 1)[0];
}

/** What a session is called in records: the same for the same session, and it opens nothing. */
export function sessionTag(session: string): string {
  return createHash("sha256").update(session).digest("hex").slice(0, 16);
}
