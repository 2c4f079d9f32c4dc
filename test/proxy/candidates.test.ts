import { describe, expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, verify } from "../helpers/messages.js";
import { rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";

// A16: only whole JSON objects with status 200 are read; nothing else is touched, and nothing trips.
describe("a strict client", () => {
  it.each([
    [
      "422 with a mask in it",
      422,
      "Unprocessable Entity",
      '{"detail":[{"msg":"x"}],"mask_sample":true}',
    ],
    ["500 with a JSON string", 500, "Internal Server Error", "\"ConfigKeyError('Missing key')\""],
    ["500 with a mask in it", 500, "Internal Server Error", MASKED],
    ["503 with a mask in it", 503, "Service Unavailable", MASKED],
    ["201 with a mask in it", 201, "Created", MASKED],
    ["202 with a mask in it", 202, "Accepted", MASKED],
    ["203 with a mask in it", 203, "Non-Authoritative Information", MASKED],
    ["206 with a mask in it", 206, "Partial Content", MASKED],
    ["299 with a mask in it", 299, "Odd", MASKED],
    ["400 with a mask in it", 400, "Bad Request", MASKED],
    ["302 with a mask in it", 302, "Found", MASKED],
    ["an empty body", 200, "OK", ""],
    ["white space", 200, "OK", " \r\n"],
    ["null", 200, "OK", "null"],
    ["an empty array", 200, "OK", "[]"],
    ["an array with a mask in it", 200, "OK", `[${MASKED}]`],
    ["a string", 200, "OK", '"x"'],
    ["a string that looks like a mask", 200, "OK", JSON.stringify(MASKED)],
    ["a number", 200, "OK", "3"],
    ["HTML", 200, "OK", "<html>mask_sample: true</html>"],
    ["an empty object", 200, "OK", "{}"],
  ])("gets %s unchanged", async (_, status, reason, body) => {
    const { reply, proxy } = await through(answer(body, { status, reason }));
    expect(reply.status).toBe(status);
    expect(reply.reason).toBe(reason);
    expect(reply.text).toBe(body);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual([]);
    expect((await rawRequest(proxy.url, verify())).status).toBe(status);
  });

  // A16 and section 3: the body decides, because clients read it as JSON whatever its type says.
  it.each(["text/html", "text/plain; charset=utf-8", "application/octet-stream", ""])(
    "gets 503 for a masked object whatever its type: %s",
    async (type) => {
      const { reply } = await through(answer(MASKED, { headers: [["Content-Type", type]] }));
      expect(reply.status).toBe(503);
    },
  );

  it("gets 503 for a masked object without any type", async () => {
    const bare = `HTTP/1.1 200 OK\r\nContent-Length: ${MASKED.length}\r\n\r\n${MASKED}`;
    expect((await through(bare)).reply.status).toBe(503);
  });

  it("gets 503 for a masked object whose status line has another phrase", async () => {
    const { reply } = await through(answer(MASKED, { reason: "Fine" }));
    expect(reply.status).toBe(503);
  });

  // Python's json.loads reads UTF-16 and UTF-32, so such a body could carry a mask that nobody here can check.
  it.each(["utf16le", "utf16le with its mark"])("gets 502 for a body in %s", async (name) => {
    const text = name === "utf16le" ? MASKED : `\ufeff${MASKED}`;
    const { reply } = await through(answer(Buffer.from(text, "utf16le")));
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
  });
});
