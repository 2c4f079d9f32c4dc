import { expect, it } from "vitest";
import { problemText } from "../../../src/config/problems.js";
import { resolveConfig } from "../../../src/config/resolve.js";

function problemsOf(text: string, env: Record<string, string> = {}): string {
  const found = resolveConfig({ env }, { name: "maskgate.yaml", text });
  if (!("problems" in found)) throw new Error("there is none");
  return problemText(found.problems);
}

const UPSTREAM = "upstream: http://127.0.0.1:1\n";

it.each([
  ["admin.token", `${UPSTREAM}admin: {token: "s3cret with spaces"}`],
  ["admin.token", `${UPSTREAM}admin: {token: 5300000003}`],
  ["alert.webhook", `${UPSTREAM}alert: {webhook: hooks.example.com/s3cret}`],
  [
    "routes[0].match.header.authorization.matches",
    `${UPSTREAM}routes: [{name: a, mode: observe, match: {header: {authorization: {matches: "s3cret("}}}}]`,
  ],
])("a problem with %s does not show it: %s", (path, text) => {
  const says = problemsOf(text);
  expect(says).toContain(`${path}: `);
  expect(says).toContain("found (not shown)");
  expect(says).not.toMatch(/s3cret|5300000003/);
});

it("nor one with a variable that holds it", () => {
  const says = problemsOf(UPSTREAM, { MASKGATE_ADMIN_TOKEN: "s3cret with spaces" });
  expect(says).toContain("MASKGATE_ADMIN_TOKEN: malformed, found (not shown)");
});

it("but any other value, and what is no text at all", () => {
  expect(problemsOf(`${UPSTREAM}logLevel: loud`)).toContain('found "loud"');
  expect(problemsOf(`${UPSTREAM}admin: {token: [s3cret]}`)).toContain("found a list");
});
