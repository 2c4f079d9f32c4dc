import { Pool } from "undici";
import { expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { MASKED, request } from "../helpers/messages.js";
import { isTaken } from "../helpers/ramp.js";
import { openClient } from "../helpers/raw-client.js";
import { startServing, type Way } from "../helpers/serving.js";

const TASKS = Array.from({ length: 40 }, (_, i) => String(i));

/** A file with one strict route for everybody. */
const file = (upstream: string, percentage: unknown, more = ""): string => `upstream: ${upstream}
listen: {port: 0}
routes: [{name: s, mode: strict, ramp: {percentage: ${String(percentage)}, salt: run-42}}]
${more}`;

/** Files that are none, each for a reason of its own. */
const INVALID: readonly ((upstream: string) => string)[] = [
  (upstream) => file(upstream, '"30%"'),
  (upstream) => file(upstream, 101),
  (upstream) => file(upstream, 50, "stict: true"),
  (upstream) => file(upstream, "[}"),
  () => "",
  () => "\u0000\u0001",
  (upstream) => file(upstream, 50).replace("salt: run-42", "salt: run-42, salt: x"),
  (upstream) => file(upstream, 50).replace("mode: strict", "mode: strct"),
];

/** Sends a verify for each task by a pool of connections, and tells for which of them the error came; anything else is a failure. */
function senderTo(url: string): (tasks: readonly string[]) => Promise<string[]> {
  const pool = new Pool(url, { connections: 8 });
  closeLater(async () => pool.destroy());
  return async (tasks) => {
    const sides = tasks.map(async (task) => {
      const path = `/ng-rollout/${task}-0/verify`;
      const { statusCode, headers, body } = await pool.request({
        method: "POST",
        path,
        body: "{}",
      });
      const text = await body.text();
      if (statusCode === 503 && headers["maskgate-verdict"] === "masked") return [task];
      expect([statusCode, text]).toEqual([200, MASKED]);
      return [];
    });
    return (await Promise.all(sides)).flat();
  };
}

it("50 changes of the file, valid and invalid, apply or are refused while requests keep coming, and nothing fails", async () => {
  const held: ((body: string) => void)[] = [];
  const upstream = await startHttpUpstream((asked, reply) => {
    reply.setHeader("content-type", "application/json");
    if (asked.url?.includes("held") === true) held.push((body) => void reply.end(body));
    else reply.end(MASKED);
  });
  const { url, change, logged, program } = await startServing(file(upstream.url, 100));
  const hold = async (): Promise<{ status(): Promise<number> }> => {
    const client = await openClient(url);
    client.write(request("POST", "/ng-rollout/held-0/verify", { body: "{}" }));
    return { status: async () => (await client.reply("POST")).status };
  };
  const send = senderTo(url);
  const first = await hold();
  const over = new AbortController();
  let served = 0;
  const traffic = (async () => {
    while (!over.signal.aborted) {
      await send(TASKS.slice(0, 8));
      served += 8;
    }
  })();

  const ways: readonly Way[] = ["in place", "by rename"];
  let second: Awaited<ReturnType<typeof hold>> | undefined;
  let last = 100;
  for (let i = 0; i < 50; i += 1) {
    // Two swaps in a row: the first makes the file a link, the second changes only what it leads to.
    const way = i === 24 || i === 26 ? "by symbolic link" : ways[(i >> 1) % 2]!;
    if (i % 2 === 1) {
      const refused = await change(
        INVALID[(i >> 1) % INVALID.length]!(upstream.url),
        "config_refused",
        ways[(i % 4) >> 1],
      );
      expect(refused).toMatchObject({ level: "error", problems: expect.anything() as unknown });
    } else {
      const next = (i * 26) % 101;
      const applied = await change(file(upstream.url, next), "config_applied", way);
      const path = "routes.s.ramp.percentage";
      expect(applied["changes"]).toEqual([
        { path, from: String(last), to: String(next), needsRestart: false },
      ]);
      last = next;
    }
    expect(await send(TASKS), `${i}`).toEqual(
      TASKS.filter((task) => isTaken("run-42", task, last)),
    );
    if (i === 0) {
      expect(last).toBe(0);
      second = await hold();
    }
  }
  expect(logged("config_refused")).toHaveLength(25);
  expect(logged("config_applied")).toHaveLength(25);

  // Each of those in flight ends under the route it started with.
  const off = file(upstream.url, 0).replace(/mode: strict, ramp: {.*}}/, "mode: passthrough}");
  await change(off, "config_applied");
  expect(await send(TASKS)).toEqual([]);
  held[0]!(MASKED);
  expect(await first.status()).toBe(503);
  await change(file(upstream.url, 100), "config_applied");
  expect(await send(TASKS)).toEqual(TASKS);
  held[1]!(MASKED);
  expect(await second?.status()).toBe(200);

  over.abort();
  await traffic;
  expect(served).toBeGreaterThan(50);
  program.child.kill("SIGTERM");
  expect((await program.finished).code).toBe(0);
}, 180_000);
