import { describe, expect, it } from "vitest";
import { changesBetween } from "../../../src/config/changes.js";
import type { Config } from "../../../src/config/config.js";
import { plainConfig, withoutSecrets } from "../../../src/config/plain.js";
import { problemLine } from "../../../src/config/problems.js";
import { resolveConfig } from "../../../src/config/resolve.js";
import type { Environment, Flags } from "../../../src/config/settings.js";

const UPSTREAM = "upstream: http://h:1\n";

function load(text: string, flags: Flags = {}, env: Environment = {}): Config {
  const result = resolveConfig({ flags, env }, { name: "f", text: UPSTREAM + text });
  if ("problems" in result) throw new Error(result.problems.map(problemLine).join("\n"));
  return result.config;
}

function problems(text: string, flags: Flags = {}): string[] {
  const result = resolveConfig({ flags }, { name: "f", text: UPSTREAM + text });
  return "problems" in result ? result.problems.map(problemLine) : [];
}

describe("the operators' listener", () => {
  it("is off unless it is asked for; a token alone asks for nothing", () => {
    expect(load("").admin).toBeUndefined();
    expect(load("", {}, { MASKGATE_ADMIN_TOKEN: "s3cret-token" }).admin).toBeUndefined();
  });

  it.each<[string, Flags, Environment, Config["admin"]]>([
    ["admin: {}", {}, {}, { host: "127.0.0.1", port: 9201, token: undefined }],
    ["", { adminPort: "9300" }, {}, { host: "127.0.0.1", port: 9300, token: undefined }],
    ["", {}, { MASKGATE_ADMIN_HOST: "0.0.0.0" }, { host: "0.0.0.0", port: 9201, token: undefined }],
    [
      "admin: {host: '::1', port: 1, token: from-the-file}",
      { adminPort: "2" },
      { MASKGATE_ADMIN_TOKEN: "from-the-environment", MASKGATE_ADMIN_PORT: "3" },
      { host: "::1", port: 2, token: "from-the-environment" },
    ],
  ])("comes of file, flags and environment: %s %j %j", (text, flags, env, admin) => {
    expect(load(text, flags, env).admin).toEqual(admin);
  });

  it.each<[string, Flags, string]>([
    ["admin: {port: 9200}", {}, "admin.port: a port that clients come in by, found 9200"],
    ["listen: {port: 9201}\nadmin: {}", {}, "admin.port: a port that clients come in by"],
    ["", { adminPort: "9200" }, "--admin-port: a port that clients come in by, found 9200"],
    ["admin: {token: short}", {}, "admin.token: malformed"],
    ["admin: {port: many}", {}, "admin.port: not a number"],
    ["admin: {tokens: x}", {}, 'did you mean "token"?'],
  ])("is refused for %s %j", (text, flags, problem) => {
    expect(problems(text, flags).join("\n")).toContain(problem);
  });

  it("may share a port that the system chooses", () => {
    expect(problems("listen: {port: 0}\nadmin: {port: 0}")).toEqual([]);
  });
});

describe("alert and audit", () => {
  it("fill in their defaults", () => {
    expect(load("").alert).toEqual({ maskedShare: 0.5, minAnswers: 50, windowMs: 300_000 });
    expect(load("audit: {file: a}").audit).toEqual({ file: "a", maxBytes: 67_108_864, keep: 5 });
  });

  it.each([
    ["alert: {maskedShare: 0}", "alert.maskedShare"],
    ["alert: {maskedShare: 50}", "alert.maskedShare"],
    ["alert: {windowMs: 1}", "alert.windowMs"],
    ["alert: {webhook: hooks.example.com}", "alert.webhook"],
    ["alert: {webhook: 'file:///etc/passwd'}", "alert.webhook"],
    ["audit: {}", "audit.file: missing"],
    ["audit: {file: a, maxBytes: 10}", "audit.maxBytes"],
  ])("are refused for %s", (text, problem) => {
    expect(problems(text).join("\n")).toContain(problem);
  });
});

describe("what opens doors", () => {
  const text = `
admin: {token: s3cret-token}
alert: {webhook: "https://hooks.example.com/services/S3CRET"}
routes: [{name: a, mode: strict, match: {header: {authorization: S3CRET}}}]`;

  it("is hidden where a configuration is shown", () => {
    const shown = JSON.stringify(plainConfig(withoutSecrets(load(text))));
    expect(shown).not.toMatch(/s3cret/i);
    expect(shown).toContain("https://hooks.example.com/");
  });

  it("is hidden where changes are logged", () => {
    const changes = changesBetween(
      load(text),
      load(text.replaceAll("S3CRET", "S4CRET").replace("s3cret-token", "s4cret-token")),
    );
    expect(changes.map(({ path }) => path)).toEqual([
      "admin.token",
      "alert.webhook",
      "routes.a.match.header.authorization",
    ]);
    expect(JSON.stringify(changes)).not.toMatch(/s[34]cret/i);
  });
});
