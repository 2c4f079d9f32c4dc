import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { Monitor } from "../../../src/observe/monitor.js";
import type { Finding, Passage, Witness } from "../../../src/observe/passage.js";
import type { Readings } from "../../../src/observe/readings.js";
import { statusOf } from "../../../src/observe/status.js";
import { createHearing } from "../../../src/workers/hear.js";
import type { Report } from "../../../src/workers/messages.js";
import { Reporter } from "../../../src/workers/reporter.js";

const LOAD = { inFlight: 1, heldBytes: 2, spilledBytes: 3 };

/** A reporter and what it sends, as another process gets it. */
function reporting(): { reporter: Reporter; reports: Report[]; bytes: () => Buffer } {
  const reports: Report[] = [];
  let bytes = Buffer.alloc(0);
  const reporter = new Reporter(
    true,
    () => LOAD,
    (report) => {
      bytes = serialize(report);
      reports.push(deserialize(bytes) as Report);
    },
  );
  return { reporter, reports, bytes: () => bytes };
}

function monitor(): Monitor {
  const alert = { maskedShare: 0.5, minAnswers: 3, windowMs: 60_000, webhook: undefined };
  return new Monitor({ log: pino({ level: "silent" }), alert, remembers: true });
}

const READINGS: Readings = {
  version: "0",
  startedAt: new Date(0),
  upstream: "http://127.0.0.1:1",
  alert: { maskedShare: 0.5, minAnswers: 3, windowMs: 60_000, webhook: undefined },
  holdMemoryBytes: 0,
  routes: () => [],
  inFlight: () => 0,
  heldBytes: () => 0,
  spilledBytes: () => 0,
  isDraining: () => false,
};

const passages: fc.Arbitrary<Passage> = fc
  .record({
    name: fc.constantFrom("a", "b"),
    mode: fc.constantFrom("strict" as const, "observe" as const, "passthrough" as const),
    url: fc.constantFrom(
      "/verify?token=s3cret",
      "/ng-rollout/7-0/verify",
      "http://user:s3cret@x/verify",
    ),
    verified: fc.boolean(),
    ids: fc.boolean(),
    answerBytes: fc.nat(),
    upstreamMs: fc.nat({ max: 1000 }),
    totalMs: fc.nat({ max: 1000 }),
  })
  .map(({ name, mode, url, verified, ids, answerBytes, upstreamMs, totalMs }) => ({
    route: { name, mode, translation: "null" as const, match: { header: new Map() } },
    request: {
      method: "POST",
      url,
      rawHeaders: ["Cookie", "s3cret", ...(ids ? ["X-Request-Id", "id-1"] : [])],
    },
    verify: verified ? { rolloutId: "7-0" } : undefined,
    answerBytes,
    upstreamMs,
    elapsedMs: () => totalMs,
  }));

const findings: fc.Arbitrary<Finding> = fc.oneof(
  fc.constantFrom<Finding>(
    {
      verdict: { verdict: "scored" },
      decision: { decision: "pass", because: "not masked" },
    },
    {
      verdict: { verdict: "unknown", why: "not-utf-8" },
      decision: { decision: "pass", because: "not masked" },
    },
  ),
  fc
    .record({
      kind: fc.constantFrom("judge_failed", "own:kind", "k".repeat(300)),
      reason: fc.string({ unit: "grapheme", maxLength: 50 }),
      translated: fc.boolean(),
      session: fc.constantFrom("0af1", undefined),
    })
    .map(({ kind, reason, translated, session }) => ({
      verdict: {
        verdict: "masked" as const,
        signal: "mask_sample",
        signals: ["mask_sample"],
        kind,
        reason: reason.repeat(100),
      },
      decision: translated
        ? { decision: "translate" as const }
        : { decision: "pass" as const, because: "held back by ramp" as const },
      session,
      // What the proxy keeps beside it, and what cannot leave the process.
      release: () => undefined,
    })),
);

type Call = (witness: Witness) => void;

const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(passages, findings, fc.constantFrom(200, 503)).map(
    ([p, f, s]): Call =>
      (witness) =>
        witness.judged(p, f, s),
  ),
  fc.tuple(passages, fc.constantFrom("UPSTREAM_RESET" as const, "ANSWER_TOO_LARGE" as const)).map(
    ([p, code]): Call =>
      (witness) =>
        witness.failed(p, code),
  ),
  fc.tuple(passages, fc.constantFrom(200, 503, undefined)).map(
    ([p, s]): Call =>
      (witness) =>
        witness.ended(p, s),
  ),
);

describe("what a worker reports", () => {
  it("counts in the first process as it would have in this one", () => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    try {
      fc.assert(
        fc.property(fc.array(calls, { maxLength: 60 }), (list) => {
          const [here, there] = [monitor(), monitor()];
          const times: { here: unknown[]; there: unknown[] } = { here: [], there: [] };
          here.onTimes = ({ tally }, ...ms) => times.here.push([tally.name, tally.mode, ms]);
          there.onTimes = ({ tally }, ...ms) => times.there.push([tally.name, tally.mode, ms]);
          const { reporter, reports, bytes } = reporting();
          for (const call of list) {
            call(here);
            call(reporter);
          }
          reporter.flush();
          const hear = createHearing(there);
          for (const { seen } of reports) hear(seen);
          expect(statusOf(there, READINGS)).toEqual(statusOf(here, READINGS));
          expect(times.there).toEqual(times.here);
          expect(bytes().includes("s3cret")).toBe(false);
        }),
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it("waits for more unless it is a masked answer, a line, or much", async () => {
    vi.useFakeTimers();
    try {
      const { reporter, reports } = reporting();
      const passage = fc.sample(passages, 1)[0]!;
      reporter.ended(passage, 200);
      await vi.advanceTimersByTimeAsync(99);
      expect(reports).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(reports).toHaveLength(1);
      expect(reports[0]).toMatchObject({ lines: [], load: LOAD });
      expect(reports[0]?.seen.map(([what]) => what)).toEqual(["ended"]);
      reporter.line("{}\n");
      reporter.ended(passage, 200);
      await vi.advanceTimersByTimeAsync(9);
      expect(reports).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(reports[1]).toMatchObject({ lines: ["{}\n"] });
      for (let n = 0; n < 4096; n += 1) reporter.ended(passage, 200);
      expect(reports[2]?.seen).toHaveLength(4096);
    } finally {
      vi.useRealTimers();
    }
  });
});
