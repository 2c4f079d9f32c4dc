import { UNSPECIFIED_KIND } from "../mask/signals.js";

/** The names that Gym's servers share for what went wrong: nemo-gym 0.7.0 `failure_kinds.py`, FAILURE_KINDS. */
export const FAILURE_KINDS: ReadonlySet<string> = new Set([
  "transport_unreachable",
  "transport_peer_drop",
  "transport_timeout",
  "transport_local_resource",
  "agent_run_error",
  "agent_request_failed",
  "agent_timeout",
  "agent_command_not_allowed",
  "judge_failed",
  "judge_unparseable",
  "verifier_error",
  "provider_unavailable",
  "provider_quota_exhausted",
  "provider_oom_killed",
  "session_lost",
  "session_expired",
  "session_release_failed",
  "cancelled",
  "kill_shaped",
  "shutdown",
  "persistence_failed",
  "cohort_incomplete",
]);

/**
 * The kind as the value of a metric's label: one of the shared names, `unspecified`, or `other`. A server's own `<server>:<kind>` is `other` too,
 * because nothing bounds how many of those there are; logs and audit have them in full.
 */
export function kindLabel(kind: string): string {
  return FAILURE_KINDS.has(kind) || kind === UNSPECIFIED_KIND ? kind : "other";
}
