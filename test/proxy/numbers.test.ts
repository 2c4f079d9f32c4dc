import { expect, it } from "vitest";
import { answer, chunkedAnswer } from "../helpers/messages.js";
import { through } from "../helpers/through.js";

// A24: what parse-and-print would change, in an answer that is read for a verdict.
const BODIES = [
  '{"id":12345678901234567890,"lp":-0.10000000000000000555,"x":1.0,"y":1e400}',
  '{"reward":1.0,"seed":9007199254740993,"z":-0.0,"big":1E+5,"n":0.30000000000000004}',
  '{ "reward" : NaN , "lp" : [ Infinity , -Infinity ] }',
  '{"b":1,"a":2,"b":3,"10":0,"9":0,"__proto__":{"x":1}}',
  '{"reward":1,"text":"\\u00e9\\/\\ud83d \u2028\u007f é 超 😀"}',
  '\ufeff{"reward":1}\r\n',
];

it.each(BODIES)("keeps every byte of an unmasked answer: %s", async (body) => {
  const bytes = Buffer.from(body);
  const whole = await through(answer(bytes));
  expect(whole.reply.body.equals(bytes)).toBe(true);
  const parts = Array.from(bytes, (byte) => Buffer.from([byte]));
  const chunked = await through(chunkedAnswer(parts));
  expect(chunked.reply.body.equals(bytes)).toBe(true);
});

it("keeps bytes that are no UTF-8", async () => {
  const bytes = Buffer.from('{"reward":1,"text":"\xff\xfe\xc3"}', "latin1");
  expect((await through(answer(bytes))).reply.body.equals(bytes)).toBe(true);
});
