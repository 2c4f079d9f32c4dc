import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { createMaskgate } from "maskgate";

test("a rollout that was not measured never reaches the trainer as a zero", async (t) => {
  const lost = {
    reward: 0,
    mask_sample: true,
    failure_kind: "judge_failed",
    failure_reason: "the judge is down",
  };
  const server = createServer((_, reply) => reply.end(JSON.stringify(lost))).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());

  const gate = await createMaskgate({
    upstream: `http://127.0.0.1:${server.address().port}`,
    routes: [
      { name: "verifiers", match: { pathPrefix: "/verifiers" }, mode: "strict" },
      { name: "gym", mode: "passthrough" },
    ],
  });
  t.after(() => gate.close());

  const verify = (base) => fetch(`${base}/verify`, { method: "POST", body: "{}" });
  const strict = await verify(`${gate.url}/verifiers`);
  assert.equal(
    `${strict.status} ${strict.statusText}`,
    "503 Masked: judge_failed: the judge is down",
  );
  assert.equal(strict.headers.get("maskgate-verdict"), "masked");
  assert.deepEqual(await (await verify(gate.url)).json(), lost);
});
