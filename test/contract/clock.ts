import type { GymAnswer } from "./nemo-gym.js";

/** An answer without what the clock put in: the value of `date`, and time stamp and signature behind the session of `set-cookie`. */
export function withoutClock(answer: GymAnswer | undefined) {
  return replaceCookie(answer, /\.[\w-]+\.[\w-]+;/, ".time.signature;");
}

/** An answer without what its own session and the clock put in: the value of `date`, and that of `set-cookie`. */
export function withoutSession(answer: GymAnswer | undefined) {
  return replaceCookie(answer, /=[\w=-]+\.[\w-]+\.[\w-]+;/, "=session.time.signature;");
}

function replaceCookie(answer: GymAnswer | undefined, value: RegExp, plain: string) {
  const headers = answer?.headers.map(([name, text]) => {
    if (name === "date") return [name, text.replace(/^\w{3}, \d\d .* GMT$/, "a date")];
    return [name, name === "set-cookie" ? text.replace(value, plain) : text];
  });
  return { ...answer, headers };
}
