import { createHash, timingSafeEqual } from "node:crypto";

/** Whether an Authorization field gives this token (RFC 6750 §2.1); compared in a time that tells nothing of the token. */
export function hasToken(authorization: string | undefined, token: string): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
