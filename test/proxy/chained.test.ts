import { expect, it } from "vitest";
import { endToEnd, valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const UNREADABLE = answer(MASKED, { headers: [["Content-Encoding", "made-up"]] });
const OWN = answer("busy", { status: 503, reason: "Service Unavailable" });

it.each(
  MODES.flatMap((mode) => [
    [mode, "masked", answer(MASKED), 503, ["masked"]] as const,
    [mode, "unreadable", UNREADABLE, 502, ["uninspectable"]] as const,
    [mode, "the server's own", OWN, 503, []] as const,
  ]),
)(
  "before a strict maskgate, one on a route of mode %s passes its reply on with its verdict (%s)",
  async (mode, _, bytes, status, verdict) => {
    const upstream = await startUpstream(bytes);
    const inner = await startProxy(upstream);
    const outer = await startInMode(mode, inner.url);
    const [near, far] = [
      await rawRequest(inner.url, verify()),
      await rawRequest(outer.url, verify()),
    ];
    expect([far.line, far.body.toString()]).toEqual([near.line, near.body.toString()]);
    expect(endToEnd(far.fields)).toEqual(endToEnd(near.fields));
    expect(far.status).toBe(status);
    expect(valuesOf(far.fields, "maskgate-verdict")).toEqual(verdict);
    expect(upstream.requests).toHaveLength(2);
    expect(outer.logged("translated")).toEqual([]);
  },
);
