import { describe, expect, it } from "vitest";
import type { Status } from "../../../src/observe/status.js";
import { topLines, topScreen } from "../../../src/observe/top-lines.js";

const ROUTE = {
  name: "v",
  mode: "strict",
  translation: "error",
  ramp: { percentage: 25, by: "task", salt: "v" },
  requests: 5,
  aborted: 2,
  answers: { scored: 2, masked: 3, unknown: 0, uninspectable: 0 },
  translated: 1,
  letThrough: { "held back by ramp": 2 },
  kinds: { judge_failed: 3 },
  errors: { UPSTREAM_RESET: 1 },
  window: { answers: 5, masked: 3, share: 0.6 },
  stormSince: "2026-11-30T00:00:00.000Z",
} as const;

const RECORD = {
  id: 1,
  time: "2026-11-30T01:02:03.004Z",
  route: "v",
  mode: "strict",
  decision: "translate",
  translation: "error",
  status: 503,
  signal: "mask_sample",
  kind: "judge_failed",
  reason: "gone \u001B[2J\u0007\u202Eevil",
  task: "task7",
  path: "/verify",
} as unknown as Status["recent"][number];

const STATUS: Status = {
  version: "1.2.3",
  startedAt: "2026-11-30T00:00:00.000Z",
  uptimeSeconds: 5400,
  upstream: "http://127.0.0.1:9100",
  draining: false,
  inFlight: 7,
  heldBytes: 1_048_576,
  holdMemoryBytes: 268_435_456,
  spilledBytes: 0,
  alert: { maskedShare: 0.5, minAnswers: 50, windowMs: 300_000 },
  audit: undefined,
  routes: [ROUTE],
  recent: [RECORD],
};

describe("a status on a terminal", () => {
  it("has what the page has", () => {
    expect(topLines(STATUS, { columns: 200, rows: 40 })).toEqual([
      { emphasis: "strong", text: "maskgate 1.2.3 in front of http://127.0.0.1:9100, up 1.5 h" },
      { emphasis: "plain", text: "7 in flight, 1.0 MiB of 256.0 MiB held, 0.0 MiB spilled" },
      { emphasis: "storm", text: "MASK STORM on route v: 60 % of the last 5 answers are masked" },
      { emphasis: "plain", text: "" },
      {
        emphasis: "faint",
        text: "route  mode    ramp  requests  answers  masked  translated  errors  now",
      },
      {
        emphasis: "storm",
        text: "v      strict  25 %  7         5        3       1           1       60 % of 5",
      },
      { emphasis: "plain", text: "" },
      { emphasis: "faint", text: "time      route  kind          client got   task   reason" },
      {
        emphasis: "plain",
        text: "01:02:03  v      judge_failed  503 (error)  task7  gone ?[2J??evil",
      },
    ]);
  });

  it("fits its size", () => {
    const many = { ...STATUS, recent: Array.from({ length: 200 }, () => RECORD) };
    const lines = topLines(many, { columns: 30, rows: 12 });
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(Math.max(...lines.map(({ text }) => text.length))).toBe(30);
  });

  it("says that nothing was masked", () => {
    const lines = topLines({ ...STATUS, recent: [] }, { columns: 80, rows: 40 });
    expect(lines.at(-1)).toEqual({ emphasis: "faint", text: "no masked answers yet" });
  });

  it("says in which unit it has been up", () => {
    const up = (uptimeSeconds: number) =>
      topLines({ ...STATUS, uptimeSeconds }, { columns: 200, rows: 40 })[0]?.text.slice(-9);
    expect([59, 60, 360, 3599, 3600, 172_800].map(up)).toEqual(
      [", up 59 s", "up 1 min", "up 6 min", "up 59 min", "up 1.0 h", "up 48.0 h"].map((text) =>
        expect.stringContaining(text),
      ),
    );
  });
});

describe("a whole screen", () => {
  const LOST = { since: new Date("2026-11-30T01:02:03Z"), why: `${"gone ".repeat(20)}\u001B[2J` };

  it("has the keys in its last row, at every size", () => {
    for (const [columns, rows] of [
      [80, 24],
      [40, 10],
      [20, 3],
      [5, 1],
    ] as const) {
      for (const lost of [undefined, LOST]) {
        const lines = topScreen(STATUS, { columns, rows }, lost);
        expect(lines).toHaveLength(rows);
        expect(lines.at(-1)?.text).toBe("q: quit".slice(0, columns));
        expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(columns);
      }
    }
  });

  it("without a connection says of when the numbers are, and shows none of them as a storm", () => {
    const [first, ...rest] = topScreen(STATUS, { columns: 60, rows: 24 }, LOST);
    expect(first?.emphasis).toBe("storm");
    expect(first?.text).toMatch(/^OLD NUMBERS: no connection since 01:02:03 UTC: gone gone/);
    expect(new Set(rest.map(({ emphasis }) => emphasis))).toEqual(new Set(["faint"]));
  });

  it("does not say that there are no masked answers where there is no room for them", () => {
    const routes = Array.from({ length: 3 }, () => ROUTE);
    const texts = topScreen({ ...STATUS, routes }, { columns: 40, rows: 13 }, undefined).map(
      ({ text }) => text,
    );
    expect(texts).not.toContain("no masked answers yet");
    expect(texts).toContain("masked answers: no room here");
  });
});
