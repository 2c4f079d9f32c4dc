import { z } from "zod";
import { about } from "./about.js";

/** A larger delay makes Node's timers fire at once. */
const LONGEST_MS = 2_147_483_647;

/** A time in milliseconds. */
export function milliseconds(description: string, byDefault: number): z.ZodInt {
  return about(
    z.int().min(0).max(LONGEST_MS),
    `a whole number of milliseconds from 0 to ${LONGEST_MS}`,
    { description, default: byDefault },
  );
}

/** A size in bytes. */
export function bytes(least: number, description: string, byDefault: number): z.ZodInt {
  return about(
    z.int().min(least).max(Number.MAX_SAFE_INTEGER),
    `a whole number of bytes, ${least} or more`,
    { description, default: byDefault },
  );
}

/** An address to listen on. */
export function host(byDefault: string): z.ZodString {
  return about(
    z
      .string()
      .regex(
        /^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9._-]+)?)$/,
      ),
    "an address or a host name, without port and brackets",
    { description: "The address to listen on; 0.0.0.0 is every one.", default: byDefault },
  );
}

/** A port to listen on. */
export function port(byDefault: number): z.ZodInt {
  return about(z.int().min(0).max(65_535), "a whole number from 0 to 65535", {
    description: "The port to listen on; 0 lets the system choose.",
    default: byDefault,
  });
}
