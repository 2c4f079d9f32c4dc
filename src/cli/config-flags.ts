import type { Command } from "commander";
import type { ConfigInput } from "../config/load.js";
import type { Flags } from "../config/settings.js";

/** What the flags that describe a configuration are read into, as they were typed. */
export type ConfigFlags = Omit<Flags, "upstream"> & { readonly config?: string };

/** How an upstream is written. */
export const UPSTREAM_FORMS = "http://HOST:PORT, https://HOST:PORT or unix:/PATH/TO.sock";

/** The same command, which now takes an upstream and every flag of the configuration but `--port`. */
export function withConfigFlags(command: Command): Command {
  return withConfigOptions(command.argument("[upstream]", `the server: ${UPSTREAM_FORMS}`));
}

/** The same command, which now takes every flag of the configuration but `--port`, and no upstream. */
export function withConfigOptions(command: Command): Command {
  return command
    .option("-c, --config <file>", "read this YAML or JSON file")
    .option(
      "--upstream-ca <file>",
      "the authorities that an https upstream's certificate may come from",
    )
    .option("--host <host>", "the address to listen on (default: 127.0.0.1)")
    .option(
      "--masked-as-error",
      "turn masked answers into HTTP 503 with the reason (without it nothing is changed)",
    )
    .option("--connect-retry-ms <ms>", "how long a closed port is tried again (default: 30000)")
    .option(
      "--upstream-timeout-ms <ms>",
      "the longest wait for an answer; 0 is for ever (default: 0)",
    )
    .option("--max-answer-bytes <n>", "the largest answer that is judged (default: 268435456)")
    .option("--hold-memory-bytes <n>", "memory for held answers, then files (default: 268435456)")
    .option("--drain-ms <ms>", "how long a stop waits for requests in flight (default: 600000)")
    .option(
      "--log-level <level>",
      "trace, debug, info, warn, error, fatal or silent (default: info)",
    )
    .option("--workers <n>", "how many processes serve clients, a core for each (default: 1)")
    .option(
      "--admin-port <port>",
      "listen here for operators: /metrics, /healthz, /readyz, /status and a page (default: off)",
    )
    .option("--admin-host <host>", "the address to listen on for them (default: 127.0.0.1)")
    .addHelpText(
      "after",
      `
A flag wins over its environment variable (--drain-ms: MASKGATE_DRAIN_MS), that over the file, that over the default.`,
    );
}

/** The sources of the configuration: argument, flags, this process's environment and the file. */
export function configInput(upstream: string | undefined, options: ConfigFlags): ConfigInput {
  const { config, ...flags } = options;
  return { file: config, flags: { ...flags, upstream }, env: process.env };
}
