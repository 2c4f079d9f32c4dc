import { expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { through } from "../helpers/through.js";

// A13: a lost session cookie makes /verify score an untouched state.
const COOKIES = [
  [
    "set-cookie",
    "Weather___weather=eyJzIjoxfQ.abc; path=/; Max-Age=1209600; httponly; samesite=lax",
  ],
  ["Set-Cookie", "other=2; Expires=Tue, 01 Dec 2026 00:00:00 GMT; Domain=gym.example; Path=/x"],
  ["SET-COOKIE", 'third="a,b; c"; Secure'],
] as const;

it.each([
  ["a seed", request("POST", "/seed_session", { body: "{}" }), '{"session":1}', 200],
  ["a scored verify", verify(), SCORED, 200],
  ["a masked verify", verify(), MASKED, 503],
])(
  "passes three Set-Cookie lines of %s, in order and untouched",
  async (_, bytes, body, status) => {
    const { reply } = await through(answer(body, { headers: COOKIES }), bytes);
    expect(reply.status).toBe(status);
    expect(reply.fields.filter(([name]) => name.toLowerCase() === "set-cookie")).toEqual(COOKIES);
  },
);

it("passes two Cookie lines of a request as two lines", async () => {
  const { upstream } = await through(
    answer(SCORED),
    verify([
      ["Cookie", "a=1; b=2"],
      ["cookie", "c=3"],
    ]),
  );
  expect(upstream.requests.map(({ fields }) => valuesOf(fields, "cookie"))).toEqual([
    ["a=1; b=2", "c=3"],
  ]);
});
