import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { expectSame, type Run } from "./comparison.js";
import { direct, type PutBefore, through } from "./front.js";
import { CLOSING } from "./websocket/closing.js";
import { FRAMES } from "./websocket/frames.js";
import { startServer } from "./websocket/ground.js";
import { HANDSHAKE } from "./websocket/handshake.js";

const CASES = { ...HANDSHAKE, ...FRAMES, ...CLOSING };
/** A case that nothing comes of is the last one of its run. */
const HANGS_MS = 20_000;
const HUNG = "hung";

/** What became of each case; one that is not as it has to be is told by what came instead. */
async function run(putBefore: PutBefore): Promise<Run> {
  let carried = 0;
  const server = await startServer(() => {
    carried += front.inFlight() > 0 ? 1 : 0;
  });
  const front = await putBefore(server.url);
  const outcomes: Record<string, string> = {};
  for (const [name, { run: attempt, expected }] of Object.entries(CASES)) {
    let hung: NodeJS.Timeout | undefined;
    const limit = new Promise<string>((resolve) => {
      hung = setTimeout(resolve, HANGS_MS, HUNG);
    });
    const came = await Promise.race([attempt(server.at(front.url)), limit]).catch(String);
    clearTimeout(hung);
    outcomes[name] = isDeepStrictEqual(came, expected) ? "passed" : JSON.stringify(came);
    if (came === HUNG) break;
  }
  await front.close();
  server.close();
  return { outcomes, carried };
}

test("what two ends of a WebSocket say to each other is the same through maskgate", async () => {
  const without = await run(direct);
  for (const maskedAsError of [false, true]) {
    const behind = await run(through({ maskedAsError }));
    expectSame(`WebSocket, ${maskedAsError ? "strict" : "passthrough"}`, without, behind);
    expect(behind.carried).toBeGreaterThanOrEqual(Object.keys(CASES).length);
  }
  expect(new Set(Object.values(without.outcomes))).toEqual(new Set(["passed"]));
});
