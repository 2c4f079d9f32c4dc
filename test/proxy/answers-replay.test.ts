import { describe, expect, it } from "vitest";
import { endToEnd, type Field, valueOf } from "../helpers/http-bytes.js";
import { startProxy } from "../helpers/proxy.js";
import { rawRequest, type Reply } from "../helpers/raw-client.js";
import {
  expectedVerdicts,
  recordedExchanges,
  replay,
  requestBytes,
  type Recorded,
} from "../helpers/recorded.js";
import type { Upstream } from "../helpers/upstream.js";

const exchanges = recordedExchanges();
const expected = expectedVerdicts();
const isMasked = ({ name }: Recorded): boolean => expected.get(name)?.verdict === "masked";

/** All of a reply that must not depend on the way it took. */
function seenBy(client: Reply): unknown {
  const { status, reason, body, complete } = client;
  return {
    status,
    reason,
    fields: endToEnd(client.fields),
    body: body.toString("latin1"),
    complete,
  };
}

/** All of a request that must not depend on the way it took. */
function seenAt(upstream: Upstream): unknown {
  return upstream.requests.map(({ line, fields, body, whole }) => ({
    line,
    fields: endToEnd(fields),
    body: body.toString("latin1"),
    whole,
  }));
}

function withoutExpect(fields: readonly Field[]): readonly Field[] {
  return fields.filter(([name]) => name.toLowerCase() !== "expect");
}

async function compare(recorded: Recorded, maskedAsError: boolean): Promise<void> {
  const near = await replay(recorded);
  const far = await replay(recorded);
  const proxy = await startProxy(far, { maskedAsError });
  const bytes = requestBytes(recorded);
  const direct = await rawRequest(near.url, bytes);
  const reply = await rawRequest(proxy.url, bytes);
  expect(seenBy(reply)).toEqual(seenBy(direct));
  expect(reply.complete).toBe(true);
  const { headers } = recorded.request;
  if (withoutExpect(headers).length === headers.length) expect(seenAt(far)).toEqual(seenAt(near));
  else expect(far.requests.map(({ body }) => body)).toEqual(near.requests.map(({ body }) => body));
}

it("has every row of expected.tsv among the recorded exchanges", () => {
  const names = exchanges.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(170);
  expect([...expected.keys()].filter((name) => !names.includes(name))).toEqual([]);
});

describe("a strict client", () => {
  // A02: every shape that a released nemo-gym writes.
  it.each(exchanges.filter(isMasked))(
    "gets 503 with kind and signal for $name",
    async (recorded) => {
      const row = expected.get(recorded.name);
      const proxy = await startProxy(await replay(recorded));
      const reply = await rawRequest(proxy.url, requestBytes(recorded));
      const kind = row?.kind === "-" ? "unspecified" : row?.kind;
      expect(reply.status).toBe(503);
      expect(reply.reason).toMatch(new RegExp(`^Masked: ${kind}: [ -~]+$`));
      expect(valueOf(reply.fields, "maskgate-verdict")).toBe("masked");
      const problem: unknown = JSON.parse(reply.text);
      expect(problem).toMatchObject({
        status: 503,
        signal: row?.signals[0],
        mask_sample: true,
      });
      if (row?.kind !== "-") expect(problem).toMatchObject({ failure_kind: kind });
      expect(valueOf(reply.fields, "set-cookie")).toBe(
        valueOf(recorded.response.headers, "set-cookie"),
      );
    },
  );

  // A01: the scored ones among these carry kinds and reasons, and rewards of 0.
  it.each(exchanges.filter((recorded) => !isMasked(recorded)))(
    "gets $name as the server sent it",
    async (recorded) => {
      await compare(recorded, true);
    },
  );
});

describe("a client of a passthrough route", () => {
  it.each(exchanges)("gets $name as the server sent it", async (recorded) => {
    await compare(recorded, false);
  });
});
