import { describe, expect, it } from "vitest";
import { answer, maskedFor } from "../helpers/messages.js";
import { through } from "../helpers/through.js";

// A02: which shapes count, one row for each cell; spaced as Python's default writer does, and compact as Starlette does.
const MASKING: readonly (readonly [string, string])[] = [
  ['{"reward":0.0,"mask_sample":true}', "mask_sample"],
  ['{"reward": 0.0, "mask_sample": true}', "mask_sample"],
  ['{"mask_sample" :\n\ttrue , "reward":0}', "mask_sample"],
  ['{"reward":0.0,"instance_config":{"mask_sample":true}}', "instance_config.mask_sample"],
  ['{"reward": 0.0, "instance_config": {"mask_sample": true}}', "instance_config.mask_sample"],
  ['{"mask_sample":false,"instance_config":{"mask_sample":true}}', "instance_config.mask_sample"],
  ['{"instance_config":{"mask_sample":true},"mask_sample":false}', "instance_config.mask_sample"],
  ['{"mask_sample":true,"instance_config":{"mask_sample":false}}', "mask_sample"],
  ['{"reward":0.0,"_ng_failure_class":"judge_failed"}', "_ng_failure_class"],
  ['{"reward": 0.0, "_ng_failure_class": "judge_failed"}', "_ng_failure_class"],
  ['{"_ng_failure_class":"","reward":0}', "_ng_failure_class"],
  ['{"_ng_failure_class":false}', "_ng_failure_class"],
  ['{"_ng_failure_class":0}', "_ng_failure_class"],
  ['{"reward":0.0,"_ng_no_persist":true}', "_ng_no_persist"],
  ['{"reward": 0.0, "_ng_no_persist": 1}', "_ng_no_persist"],
  ['{"mask_sample":1}', "mask_sample"],
  ['{"mask_sample":-0.5}', "mask_sample"],
  ['{"mask_sample":NaN}', "mask_sample"],
  ['{"mask_sample":-Infinity}', "mask_sample"],
  ['{"mask_sample":"true"}', "mask_sample"],
  ['{"mask_sample":"false"}', "mask_sample"],
  ['{"mask_sample":[0]}', "mask_sample"],
  ['{"mask_sample":{"a":0}}', "mask_sample"],
  ['{"mask_\\u0073ample":true}', "mask_sample"],
  ['{"\\u006dask_sample":true,"reward":0}', "mask_sample"],
  ['\ufeff{"mask_sample":true}', "mask_sample"],
  [' \r\n\t{"mask_sample":true} \r\n', "mask_sample"],
  ['{"reward":NaN,"lp":[Infinity,-Infinity],"mask_sample":true}', "mask_sample"],
  ['{"reward":0.75,"mask_sample":true}', "mask_sample"],
  // A24: of doubled names the last one counts.
  ['{"mask_sample":false,"reward":0,"mask_sample":true}', "mask_sample"],
  ['{"mask_sample":false,"reward":0,"mask_\\u0073ample":true}', "mask_sample"],
  ['{"instance_config":{"mask_sample":false,"mask_sample":true}}', "instance_config.mask_sample"],
  ['{"instance_config":{},"instance_config":{"mask_sample":1}}', "instance_config.mask_sample"],
];

const PASSING = [
  // A01: a reason or a kind is not a mask.
  '{"reward":0.0,"mask_sample":false,"failure_kind":"judge_unparseable","failure_reason":"judge_not_equivalent"}',
  '{"reward":0.0,"failure_kind":"judge_unparseable","failure_reason":"judge_not_equivalent"}',
  '{"reward":1.0,"failure_reason":"none"}',
  '{"reward":0.0,"_ng_failure_judge_error":"x","_ng_failure_terminal":true,"error":"x"}',
  '{"mask_sample":false}',
  '{"mask_sample":null}',
  '{"mask_sample":0}',
  '{"mask_sample":0.0}',
  '{"mask_sample":-0}',
  '{"mask_sample":0e9}',
  '{"mask_sample":1e-999}',
  '{"mask_sample":""}',
  '{"mask_sample":[]}',
  '{"mask_sample":{}}',
  '{"mask_sample": [ ] , "reward": 1}',
  '{"_ng_failure_class":null}',
  '{"_ng_no_persist":false}',
  '{"_ng_no_persist":null,"instance_config":null}',
  '{"instance_config":{"mask_sample":false}}',
  '{"instance_config":[{"mask_sample":true}]}',
  '{"instance_config":"mask_sample"}',
  '{"instance_config":{"_ng_failure_class":"x","_ng_no_persist":true}}',
  '{"instance_config":{"a":{"mask_sample":true}}}',
  '{"Mask_Sample":true,"mask_sample ":true,"mask-sample":true}',
  // A24, the reverse.
  '{"mask_sample":true,"reward":0,"mask_sample":false}',
  '{"mask_sample":true,"reward":0,"\\u006dask_sample":false}',
  '{"instance_config":{"mask_sample":true},"instance_config":{}}',
  // A27: own members only.
  '{"__proto__":{"mask_sample":true},"reward":0}',
  '{"constructor":{"mask_sample":true},"reward":0}',
  // The text of a model is no member.
  '{"response":{"output":[{"text":"\\"mask_sample\\": true","mask_sample":true}]},"reward":1}',
  '{"response":{"text":"}, \\"mask_sample\\":true, {"},"reward":1}',
  '{"reward":1,"note":"\\\\\\",\\"mask_sample\\":true"}',
  '{"reward":1,"note":"x\\\\","tail":"\\"mask_sample\\":true}"}',
];

describe("a strict client", () => {
  it.each(MASKING)("gets 503 for %s, by %s", async (body, signal) => {
    const { reply } = await through(answer(body));
    expect(reply.status).toBe(503);
    expect(JSON.parse(reply.text)).toMatchObject({ signal, mask_sample: true });
  });

  it.each(PASSING)("gets %s byte for byte", async (body) => {
    const { reply } = await through(answer(body));
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(body);
  });

  it("gets 503 for a mask in front of 300 kB of echoed text, and behind it", async () => {
    const text = '"mask_sample": false, \\u0022\\\\'.repeat(10_000);
    const rest = { responses_create_params: { input: text }, response: { id: "r", text } };
    const first = maskedFor("first", rest);
    const last = JSON.stringify({ ...rest, reward: 0, mask_sample: true, failure_reason: "last" });
    expect((await through(answer(first))).reply.reason).toMatch(/first$/);
    expect((await through(answer(last))).reply.reason).toMatch(/last$/);
  });
});
