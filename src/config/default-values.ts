/** What applies where nothing was said. Times are milliseconds, sizes bytes. */
export const DEFAULTS = {
  host: "127.0.0.1",
  port: 9200,
  verifyPaths: ["/verify"],
  connectRetryMs: 30_000,
  upstreamTimeoutMs: 0,
  maxAnswerBytes: 256 * 1024 * 1024,
  holdMemoryBytes: 256 * 1024 * 1024,
  drainMs: 600_000,
  logLevel: "info",
  translation: "error",
  status: 503,
  percentage: 100,
  by: "task",
} as const;
