/** The same value, which nobody can change any more, all the way down. */
export function deepFreeze<T>(value: T): T {
  // A pattern holds nothing but its lastIndex, which some string methods write.
  if (value instanceof RegExp) return value;
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    // A frozen Map still takes entries; its methods have to go.
    for (const method of ["set", "delete", "clear"])
      Object.defineProperty(value, method, { value: refuse });
    for (const item of value.values()) deepFreeze(item);
  } else {
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return Object.freeze(value);
}

function refuse(): never {
  throw new TypeError("The configuration cannot be changed.");
}
