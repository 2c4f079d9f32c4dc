import { type RawHeaders, valuesOf } from "../http/headers.js";

const MAX_LENGTH = 200;

/** What ties a request to other programs' records. */
export interface Correlation {
  readonly traceparent: string | undefined;
  readonly requestId: string | undefined;
}

/** The ids that a request brought along (`traceparent`: W3C Trace Context; `x-request-id`), cut; none is ever invented. */
export function correlationOf(headers: RawHeaders): Correlation {
  return {
    traceparent: first(headers, "traceparent"),
    requestId: first(headers, "x-request-id"),
  };
}

function first(headers: RawHeaders, name: string): string | undefined {
  const value = valuesOf(headers, name)[0];
  return value === undefined || value === "" ? undefined : value.slice(0, MAX_LENGTH);
}
