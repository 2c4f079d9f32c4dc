import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Pool } from "undici";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { isTaken } from "../helpers/ramp.js";
import { configOf, type Proxy, startConfigured } from "../helpers/proxy.js";

const PERCENTAGES = [0, 10, 50, 100] as const;
const TASKS = Array.from({ length: 200 }, (_, i) => `task-${i}`);
const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7];

const routesOf = (by: string, salt = "run-42"): string =>
  `routes:\n${PERCENTAGES.map(
    (percentage) =>
      `  - {name: p${percentage}, match: {pathPrefix: /p${percentage}}, mode: strict, ramp: {percentage: ${percentage}, by: ${by}, salt: ${salt}}}`,
  ).join("\n")}\n`;

/** The row that all samples of a task are made from. */
const rowOf = (task: string): string =>
  `{"input":[{"role":"user","content":"${task} é \\" }"}],"n":1.0}`;

/** A masked answer in which all but the row is a sample's own, and where texts and inner members pretend to be one. */
function answerTo(task: string, sample: number): string {
  const decoy = `"responses_create_params":{"input":${sample}}`;
  const text = JSON.stringify(`{${decoy}}`);
  return `{"responses_create_params":${rowOf(task)},"response":{"id":"r${sample}",${decoy},"text":${text}},"reward":0.0,"mask_sample":true,"failure_kind":"k${sample}"}`;
}

/** A Gym server: the row and the session come back, each time with another signature. */
async function startGym(): Promise<string> {
  let count = 0;
  const { url } = await startHttpUpstream((request, reply) => {
    const [task = "", sample = ""] = String(request.headers["x-sample"]).split(" ");
    const session = Buffer.from(`{"session_id": "${task}"}`).toString("base64");
    count += 1;
    reply.setHeader("set-cookie", [
      `other=${count}`,
      `Gym___gym=${session}.${count}.s${count}; path=/; httponly`,
    ]);
    const body = answerTo(task, Number(sample));
    if (request.headers["accept-encoding"] !== "gzip") reply.end(body);
    else reply.setHeader("content-encoding", "gzip").end(gzipSync(body));
  });
  return url;
}

type Send = (path: string, task: string, sample: number, codings?: string) => Promise<boolean>;

/** Sends verifies by a pool of connections; true where the error came, and every other reply must be the answer's own bytes. */
function senderTo(url: string): Send {
  const pool = new Pool(url, { connections: 16 });
  closeLater(async () => pool.destroy());
  return async (path, task, sample, codings) => {
    const { statusCode, body } = await pool.request({
      method: "POST",
      path,
      headers: { "x-sample": `${task} ${sample}`, ...(codings && { "accept-encoding": codings }) },
      body: "{}",
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    if (statusCode === 503) return true;
    expect(statusCode).toBe(200);
    const plain = answerTo(task, sample);
    expect(bytes.toString("latin1")).toBe(
      (codings === undefined ? Buffer.from(plain) : gzipSync(plain)).toString("latin1"),
    );
    return false;
  };
}

/** These samples of every task, the first two on every path, at this percentage: the tasks that the error came for. Fails for a task that was split. */
async function sidesOf(
  send: Send,
  percentage: number,
  paths: (task: string, sample: number) => readonly string[],
  samples: readonly number[],
): Promise<string[]> {
  const sides = await Promise.all(
    TASKS.map(async (task) => {
      const replies = samples.flatMap((sample) =>
        paths(task, sample)
          .slice(0, sample < 2 ? undefined : 1)
          .map(async (path) => send(`/p${percentage}${path}`, task, sample)),
      );
      const all = new Set(await Promise.all(replies));
      expect([task, ...all]).toHaveLength(2);
      return all.has(true) ? [task] : [];
    }),
  );
  return sides.flat();
}

const KEYS = [
  {
    by: "task",
    from: "the rollout id",
    keyOf: (task: string) => task,
    // A retry of a sample, and the same path written in another way, are the same task.
    paths: (task: string, sample: number) => [
      `/ng-rollout/${task}-${sample}/verify`,
      `/ng-rollout/${task}-${sample}-a1/verify?attempt=1`,
      `/ng%2Drollout/%74${task.slice(1)}-${sample}-a12/%76erify`,
    ],
  },
  {
    by: "task",
    from: "the echoed row",
    keyOf: (task: string) => createHash("sha256").update(rowOf(task)).digest("hex"),
    // A rollout id of another form names no task.
    paths: (task: string, sample: number) => ["/verify", `/ng-rollout/r${sample}x${task}x/verify`],
  },
  {
    by: "session",
    from: "the session cookie",
    keyOf: (task: string) => Buffer.from(`{"session_id": "${task}"}`).toString("base64"),
    paths: (_task: string, sample: number) => ["/verify", `/ng-rollout/${sample}-1/verify`],
  },
];

describe.each(KEYS)("a ramp by $by, with the key from $from", ({ by, paths, keyOf }) => {
  it("puts all samples and retries of a task on one side, at each percentage the ones expected", async () => {
    const proxy = await startConfigured(await startGym(), routesOf(by));
    const send = senderTo(proxy.url);
    const sides: string[][] = [];
    for (const percentage of PERCENTAGES) {
      sides.push(await sidesOf(send, percentage, paths, percentage === 50 ? EIGHT : [0]));
      expect(sides.at(-1)).toEqual(
        TASKS.filter((task) => isTaken("run-42", keyOf(task), percentage)),
      );
    }
    expect(sides[0]).toEqual([]);
    expect(sides[3]).toEqual(TASKS);
    for (const [i, below] of sides.slice(0, -1).entries()) {
      expect(sides[i + 1]).toEqual(expect.arrayContaining(below));
    }
    expect(proxy.logged("translated").every(({ verdict }) => verdict === "masked")).toBe(true);
    expect(new Set(proxy.logged("let_through").map(({ because }) => because))).toEqual(
      new Set(["held back by ramp"]),
    );
  }, 60_000);

  it("is the same in a second proxy, after a restart, and for an encoded answer", async () => {
    const gym = await startGym();
    const of = async (proxy: Proxy, codings?: string): Promise<boolean[]> => {
      const send = senderTo(proxy.url);
      return Promise.all(
        TASKS.map(async (task) => send(`/p50${paths(task, 1)[0]}`, task, 1, codings)),
      );
    };
    const first = await startConfigured(gym, routesOf(by));
    const second = await startConfigured(gym, routesOf(by));
    const sides = await of(first);
    expect(new Set(sides).size).toBe(2);
    expect(await of(second)).toEqual(sides);
    await first.close();
    const restarted = await startConfigured(gym, routesOf(by));
    expect(await of(restarted)).toEqual(sides);
    expect(await of(restarted, "gzip")).toEqual(sides);
    const salted = await startConfigured(gym, routesOf(by, "run-43"));
    expect(await of(salted)).not.toEqual(sides);
  }, 60_000);
});

it("keeps each task on its side, or moves it over, when only the percentage of a running proxy changes", async () => {
  const gym = await startGym();
  const proxy = await startConfigured(gym, routesOf("task"));
  const send = senderTo(proxy.url);
  const translated = async (): Promise<string[]> => {
    const all = TASKS.map(async (task) => ((await send("/p50/verify", task, 0)) ? [task] : []));
    return (await Promise.all(all)).flat();
  };
  const before = await translated();
  const more = routesOf("task").replace("percentage: 50", "percentage: 62.5");
  await proxy.gate.apply(configOf(gym, more));
  const after = await translated();
  expect(after.length).toBeGreaterThan(before.length);
  expect(after).toEqual(expect.arrayContaining(before));
});
