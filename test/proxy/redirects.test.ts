import { describe, expect, it } from "vitest";
import { endToEnd } from "../helpers/http-bytes.js";
import { answer, request } from "../helpers/messages.js";
import { through } from "../helpers/through.js";

// A19: Starlette redirects to an absolute URL made from Host; whoever follows is the client, never the proxy.
describe.each([true, false])("with strict mode %s", (maskedAsError) => {
  it.each([
    ["/verify/", 307, "http://gym.example:8123/verify"],
    ["/mcp/", 307, "http://gym.example:8123/mcp"],
    ["/verify", 302, "/elsewhere"],
    ["/verify", 303, "//other.example/x?y=%2F"],
    ["/verify", 308, "https://other.example/verify"],
  ])("passes a redirect of %s by %i as it is", async (target, status, location) => {
    const bytes = answer("", { status, reason: "Away", headers: [["Location", location]] });
    const { reply, upstream } = await through(bytes, request("POST", target, { body: "{}" }), {
      maskedAsError,
    });
    expect(reply.line).toBe(`HTTP/1.1 ${status} Away`);
    expect(endToEnd(reply.fields)).toEqual([
      ["Location", location],
      ["content-type", "application/json"],
      ["content-length", "0"],
    ]);
    expect(upstream.requests).toHaveLength(1);
  });
});
