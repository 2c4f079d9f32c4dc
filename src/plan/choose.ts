import type { Route } from "../route/route.js";

/**
 * The route that a plan is for: the one of this name, else the only one that is strict or observes. A sentence about what is wrong where there is no
 * such route or more than one.
 */
export function chooseRoute(routes: readonly Route[], name: string | undefined): Route | string {
  const names = routes.map((route) => route.name).join(", ");
  if (name !== undefined) {
    const named = routes.find((route) => route.name === name);
    return named ?? `--route: no route "${name}", the configuration has: ${names || "none"}`;
  }
  const [first, ...more] = routes.filter(({ mode }) => mode !== "passthrough");
  if (first !== undefined && more.length === 0) return first;
  const many = [first, ...more].map((route) => route?.name).join(", ");
  return first === undefined
    ? `--config: no route is strict or observes; name one with --route: ${names || "there is none"}`
    : `--config: more than one route is strict or observes; name one with --route: ${many}`;
}
