const REACH_MS = 3_600_000;

/** The last hour of every route, put together from what each event brings. */
export class History {
  /** Route to the start of a slot to its point `[start, answers, masked, translated, kinds]`. */
  #routes = new Map();

  add(history, now) {
    for (const { name, mode, points } of history) {
      const key = `${name} (${mode})`;
      const slots = this.#routes.get(key) ?? new Map();
      for (const point of points) slots.set(point[0], point);
      for (const start of slots.keys()) if (start < now - REACH_MS) slots.delete(start);
      this.#routes.set(key, slots);
    }
  }

  /** Routes with an answer that was looked at, in the order of their first. */
  get routes() {
    return [...this.#routes].filter(([, slots]) => slots.size > 0).map(([key]) => key);
  }

  /** For one route, what was answered in each of `count` stretches of `stepMs` up to `end`. */
  buckets(route, end, stepMs, count) {
    const buckets = Array.from({ length: count }, (_, i) => ({
      start: end - (count - i) * stepMs,
      answers: 0,
      masked: 0,
      kinds: {},
    }));
    for (const [start, answers, masked, , kinds] of this.#routes.get(route)?.values() ?? []) {
      const bucket = buckets[Math.floor((start - buckets[0].start) / stepMs)];
      if (bucket === undefined) continue;
      bucket.answers += answers;
      bucket.masked += masked;
      for (const [kind, n] of Object.entries(kinds)) {
        bucket.kinds[kind] = (bucket.kinds[kind] ?? 0) + n;
      }
    }
    return buckets;
  }
}
