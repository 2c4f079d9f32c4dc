// What every Node peer makes of an answer: the document is built with JSON.parse, and 503 is sent where it is masked.

/** The reply for a masked answer; undefined for any other. */
export function maskedReply(body) {
  let row;
  try {
    row = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (row === null || typeof row !== "object") return undefined;
  const masked =
    row.mask_sample ||
    row.instance_config?.mask_sample ||
    (row._ng_failure_class ?? null) !== null ||
    row._ng_no_persist;
  if (!masked) return undefined;
  const { failure_kind, failure_reason } = row;
  return Buffer.from(JSON.stringify({ status: 503, detail: failure_reason, failure_kind }));
}
