import { expect, it } from "vitest";
import { answer, MASKED, request, verify } from "../helpers/messages.js";
import { configOf, startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const ROUTES = `
routes:
  - {name: verifiers, mode: strict, match: {pathPrefix: /verifiers}}
  - {name: new-client, mode: observe, match: {header: {x-client: s3cret}}}
  - {name: gym, mode: passthrough, match: {pathPrefix: /gym}}`;

it("says once under each set of routes that a verify request took none of them", async () => {
  const upstream = await startUpstream(answer(MASKED));
  const proxy = await startConfigured(upstream, ROUTES);
  const send = async (target: string, method = "POST"): Promise<unknown> =>
    rawRequest(proxy.url, request(method, target, { body: "{}" }));
  await send("/verifiers/verify");
  await send("/gym/verify");
  await send("/seed_session");
  await send("/verify", "GET");
  expect(proxy.logged("verify_unmatched")).toEqual([]);

  await send("/ng-rollout/1-0/verify?token=s3cret");
  await send("/verify");
  expect(proxy.logged("verify_unmatched")).toEqual([
    expect.objectContaining({
      level: 40,
      path: "/ng-rollout/1-0/verify",
      routes: [
        { route: "verifiers", mode: "strict", match: "path /verifiers/…" },
        { route: "new-client", mode: "observe", match: "header x-client" },
      ],
    }),
  ]);
  expect(JSON.stringify(proxy.logged("verify_unmatched"))).not.toContain("s3cret");

  await proxy.gate.apply(configOf(upstream, ROUTES));
  await send("/verify");
  await send("/verify");
  expect(proxy.logged("verify_unmatched")).toHaveLength(2);
});

it.each([
  ["there are no routes", "routes: []"],
  ["no route is looked at", "routes: [{name: g, mode: passthrough, match: {pathPrefix: /g}}]"],
  [
    "a route takes everything else",
    "routes: [{name: v, mode: strict, match: {pathPrefix: /v}}, {name: gym, mode: passthrough}]",
  ],
])("says nothing where %s", async (_why, yaml) => {
  const proxy = await startConfigured(await startUpstream(answer(MASKED)), yaml);
  await rawRequest(proxy.url, verify());
  await proxy.close();
  expect(proxy.logged("verify_unmatched")).toEqual([]);
});
