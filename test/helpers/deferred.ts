/** A promise and the function that fulfils it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

/** A promise that the test fulfils itself (Node 20 has no `Promise.withResolvers`). */
export function deferred<T = void>(): Deferred<T> {
  const settle: { resolve?: (value: T) => void } = {};
  const promise = new Promise<T>((resolve) => {
    settle.resolve = resolve;
  });
  return { promise, resolve: (value) => settle.resolve?.(value) };
}
