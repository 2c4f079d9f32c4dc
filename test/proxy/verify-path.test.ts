import { describe, expect, it } from "vitest";
import { answer, MASKED, request } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { openClient } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { startUpstream } from "../helpers/upstream.js";

// WIRE section 6, measured on real servers: these answer 200, so a mask may come.
const VERIFY = [
  "/verify",
  "/verify?x=1",
  "/verify?",
  "/%76erify",
  "/verif%79",
  "http://127.0.0.1:9400/verify",
  "http://other.example/verify?x=1",
  "HTTP://u@h:1/verify",
  "/ng-rollout/abc/verify",
  "/ng-rollout/0-0/verify",
  "/ng-rollout/0-0-a1/verify",
  "/ng-rollout/A.b_c-1/verify",
  "/ng-rollout/%61bc/verify",
  `/ng-rollout/${"a".repeat(2000)}/verify`,
  "/ng%2Drollout/abc/verify",
  "/ng-rollout/abc/%76erify",
  "/ng-rollout/abc/verify?x=1",
  // Measured beside the table: Starlette's route ends in Python's `$`, which matches before a last line feed.
  "/verify%0a",
  // httptools cuts a fragment off, h11 does not; what one of the two would serve is judged.
  "/verify#x",
];

// The same section: these answer 404, 307 or nothing of a verify; whatever comes is not one.
const NO_VERIFY = [
  "/Verify",
  "//verify",
  "/x/../verify",
  "/./verify",
  "/verify/",
  "/verify/.",
  "/verify%2F",
  "/verify%0a%0a",
  "/verify%0d",
  "/verify%20",
  "/verify%23",
  "/verify%3Fx",
  "/verify%00",
  "/verify%ff",
  "/verify;x",
  "/%2576erify",
  "/%56erify",
  "/xverify",
  "/verifyx",
  "/x/verify",
  "//h/verify",
  "/ng-rollout/-abc/verify",
  "/ng-rollout/.abc/verify",
  "/ng-rollout/a%20b/verify",
  "/ng-rollout/a%2Fb/verify",
  "/ng-rollout/abc%0a/verify",
  "/NG-ROLLOUT/abc/verify",
  "//ng-rollout/abc/verify",
  "/x/ng-rollout/abc/verify",
  "/ng-rollout/a/ng-rollout/b/verify",
  "/ng-rollout//verify",
  "/ng-rollout/verify",
  "/ng-rollout/abc//verify",
  "/ng-rollout/abc/verify/",
  "/ng-rollout/abc/seed_session",
  "/ng-rollout/abc/mcp",
  "/ng-rollout/%c3%a9/verify",
  "/",
];

describe("a POST that the server takes for a verify", () => {
  it.each(VERIFY)("is judged: %s", async (target) => {
    const { reply, upstream } = await through(
      answer(MASKED),
      request("POST", target, { body: "{}" }),
    );
    expect(reply.status).toBe(503);
    expect(upstream.requests.map(({ line }) => line)).toEqual([`POST ${target} HTTP/1.1`]);
  });
});

describe("a POST that the server takes for something else", () => {
  it.each(NO_VERIFY)("passes, whatever the answer says: %s", async (target) => {
    const { reply, upstream } = await through(
      answer(MASKED),
      request("POST", target, { body: "{}" }),
    );
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(MASKED);
    expect(upstream.requests.map(({ line }) => line)).toEqual([`POST ${target} HTTP/1.1`]);
  });
});

it.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])(
  "passes the answer to %s /verify",
  async (method) => {
    const { reply } = await through(answer(MASKED), request(method, "/verify"));
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(MASKED);
  },
);

// A18: the path that is judged is the path that is sent.
const TARGETS = [
  "/a%2Fb",
  "//x//y",
  "/x/../verify",
  "/x/./y/..",
  "/t?",
  "/t?q=%2F&&",
  "/t?q=a b".replace(" ", "+"),
  "/t%00",
  '/{"x"}',
  "/%7b%22x%22%7D",
  "http://other.example/t",
  "http://other.example:99/t?x",
  "//10.0.0.1/t",
  "/t?u=http://x/../y",
  "/|^`<>",
  "/%zz%",
  `/${"long/".repeat(4000)}`,
];

describe("a request target", () => {
  it.each(TARGETS)("goes on byte for byte: %s", async (target) => {
    for (const maskedAsError of [true, false]) {
      const { reply, upstream } = await through(
        answer("{}"),
        request("POST", target, { body: "{}" }),
        { maskedAsError },
      );
      expect(reply.status).toBe(200);
      expect(upstream.requests.map(({ line }) => line)).toEqual([`POST ${target} HTTP/1.1`]);
    }
  });

  it("of OPTIONS may be an asterisk", async () => {
    const { reply, upstream } = await through(answer("{}"), request("OPTIONS", "*"));
    expect(reply.status).toBe(200);
    expect(upstream.requests.map(({ line }) => line)).toEqual(["OPTIONS * HTTP/1.1"]);
  });

  // Node's parser takes no byte over 0x7F here (RFC 3986 §2 allows none); refused is better than changed.
  it("with raw UTF-8 bytes is refused, and nothing goes on", async () => {
    const target = Buffer.from("/tool/überlastet-超").toString("latin1");
    const { reply, upstream } = await through(answer("{}"), request("GET", target));
    expect(reply.status).toBe(400);
    expect(upstream.opened).toBe(0);
  });
});

it("never opens a tunnel for CONNECT", async () => {
  const upstream = await startUpstream(answer("{}"));
  const proxy = await startProxy(upstream);
  const client = await openClient(proxy.url);
  client.write(request("CONNECT", `127.0.0.1:${upstream.port}`));
  await client.incoming.ended;
  expect(client.incoming.bytes.toString("latin1")).not.toMatch(/^HTTP\/1\.1 2/);
  expect(upstream.opened).toBe(0);
});
