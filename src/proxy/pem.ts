import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { ProxyError } from "../errors.js";
import type { Config, ListenTls } from "../config/config.js";
import { foundText } from "../config/problems.js";
import type { UpstreamAddress } from "../config/upstream.js";

/** A certificate, with those that lead to its authority, and its key, as PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/**
 * The upstream with the authorities that its certificate may come from, where they were named and count.
 *
 * @throws {ProxyError} CONFIG_INVALID in one sentence where the file cannot be read or holds no certificate.
 */
export async function withAuthorities({ upstream, upstreamCa }: Config): Promise<UpstreamAddress> {
  if (!upstream.secure || upstreamCa === undefined) return upstream;
  return { ...upstream, ca: await readAuthorities(upstreamCa) };
}

async function readAuthorities(file: string): Promise<string> {
  const ca = await readPem("upstreamCa", file);
  if (!ca.includes("-----BEGIN CERTIFICATE-----"))
    throw refused("upstreamCa", file, "no certificate in PEM form");
  checked("upstreamCa", file, { ca });
  return ca;
}

/**
 * What a listener shows its clients.
 *
 * @throws {ProxyError} CONFIG_INVALID in one sentence where a file cannot be read, or where certificate and key do not belong together.
 */
export async function readIdentity(files: ListenTls): Promise<Identity> {
  const [cert, key] = await Promise.all([
    readPem("listen.tls.cert", files.cert),
    readPem("listen.tls.key", files.key),
  ]);
  checked("listen.tls", `${files.cert} and ${files.key}`, { cert, key });
  return { cert, key };
}

async function readPem(path: string, file: string): Promise<string> {
  try {
    return await readFile(file, "latin1");
  } catch (error) {
    throw refused(path, file, `cannot be read (${messageOf(error)})`, error);
  }
}

function checked(path: string, file: string, options: Partial<Identity> & { ca?: string }): void {
  try {
    createSecureContext(options);
  } catch (error) {
    throw refused(path, file, `cannot be used (${messageOf(error)})`, error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function refused(path: string, file: string, wrong: string, cause?: unknown): ProxyError {
  return new ProxyError("CONFIG_INVALID", `${path}: ${wrong}, found ${foundText(file)}`, { cause });
}
