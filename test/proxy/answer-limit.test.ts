import { expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, chunkedAnswer, MASKED, SCORED, verify } from "../helpers/messages.js";
import { rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";

const large = SCORED.replace("resp_1", "r".repeat(100_000));

it("judges an answer of exactly maxAnswerBytes", async () => {
  const { reply } = await through(answer(MASKED), verify(), { maxAnswerBytes: MASKED.length });
  expect(reply.status).toBe(503);
});

it.each([
  ["with a length", answer(MASKED), MASKED.length - 1],
  ["in chunks", chunkedAnswer([MASKED, " "]), MASKED.length],
  ["much larger, scored", answer(large), 1000],
])("is 502 for a strict client past maxAnswerBytes: %s", async (_, bytes, maxAnswerBytes) => {
  const { reply, proxy } = await through(bytes, verify(), { maxAnswerBytes });
  expect(reply.status).toBe(502);
  expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
  expect(reply.complete).toBe(true);
  expect((await rawRequest(proxy.url, verify())).status).toBe(502);
});

it("ends the upstream's connection when an endless answer passes the limit", async () => {
  const { reply, upstream } = await through(
    ({ write }) => {
      write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n");
      write(Buffer.alloc(0x2000, " "));
    },
    verify(),
    { maxAnswerBytes: 5000 },
  );
  expect(reply.status).toBe(502);
  await upstream.quiet();
});

it("does not apply on a passthrough route", async () => {
  const options = { maskedAsError: false, maxAnswerBytes: 1000 };
  expect((await through(answer(large), verify(), options)).reply.text).toBe(large);
});
