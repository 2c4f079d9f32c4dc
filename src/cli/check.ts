import { Command } from "commander";
import { loadConfig } from "../config/load.js";
import { plainConfig, withoutSecrets } from "../config/plain.js";
import { type Checked, checkLines } from "./check-lines.js";
import { type ConfigFlags, configInput, withConfigFlags } from "./config-flags.js";
import { withAuthorities } from "../proxy/pem.js";
import { probe } from "./probe.js";
import { explainSample, parseHeader, parsePath, type SampleFlags } from "./sample.js";

type CheckFlags = ConfigFlags & SampleFlags & { readonly json: boolean };

/** The command `check`: shows what would apply, whether the upstream answers, and which route a request takes. */
export function checkCommand(): Command {
  const command = new Command("check")
    .description("show the configuration, try the upstream, and say which route a request takes")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate check --help)")
    .exitOverride();
  return withConfigFlags(command)
    .option("--json", "print the findings as JSON", false)
    .option("--path <target>", "a sample request's path (default: /verify)", parsePath)
    .option("--method <method>", "its method (default: POST)")
    .option("--header <field>", "one of its headers, such as 'x-client: canary'", parseHeader)
    .option("--user-agent <text>", "its User-Agent")
    .option("--port <port>", "the listening port that it comes in by (default: the first)")
    .addHelpText(
      "after",
      `
Ends with 0 when all is well, 1 when the upstream does not answer, 2 when the configuration is not valid.

Examples:
  maskgate check --config maskgate.yaml
  maskgate check --config maskgate.yaml --path /verifiers/verify
  maskgate check http://127.0.0.1:9100 --masked-as-error --user-agent python-httpx/0.28.1`,
    )
    .action(check);
}

async function check(upstream: string | undefined, flags: CheckFlags): Promise<void> {
  const { json, path, method, header, userAgent, port, ...config } = flags;
  const loaded = await loadConfig(configInput(upstream, config));
  const sample = explainSample(loaded.config, { path, method, header, userAgent, port });
  const probed = await probe(await withAuthorities(loaded.config), loaded.config.verifyPaths);
  const checked = {
    loaded: { ...loaded, config: withoutSecrets(loaded.config) },
    upstream: probed,
    sample,
  };
  const text = json ? jsonOf(checked) : checkLines(checked).join("\n");
  process.stdout.on("error", ignoreClosedPipe);
  process.stdout.write(`${text}\n`);
  if (!probed.reachable) process.exitCode = 1;
}

function jsonOf({ loaded, upstream, sample }: Checked): string {
  const { config, sources, file } = loaded;
  return JSON.stringify({ config: plainConfig(config), sources, file, upstream, sample }, null, 2);
}

/** Whoever read the findings has read enough. */
function ignoreClosedPipe(): void {}
