/** One day of GridSim: 24 hours of whole cents a kWh and whole kWh. */
export interface GridDay {
  /** Price of one kWh in each hour, in cents. */
  readonly price: readonly number[];
  /** What the site uses in each hour, in kWh. */
  readonly demand: readonly number[];
}

/** One whole number an hour: kWh put into the battery, negative for kWh taken out of it. */
export type Schedule = readonly number[];

const HOURS = 24;
const BATTERY_KWH = 4;
const POWER_KWH = 2;
const LINE_KWH = 8;
const UNSERVED_CENTS = 100;
const SERVED_WEIGHT = 0.2;
const SAVED_WEIGHT = 0.8;

/** Does nothing all day. */
export const IDLE: Schedule = Array.from({ length: HOURS }, () => 0);

/** Prices and demand of day `day`: cheap nights, two peaks, and a pattern that moves with the day. */
export function gridDay(day: number): GridDay {
  const hours = IDLE.map((_, hour) => hour);
  return {
    price: hours.map((hour) => {
      const peak = hour >= 17 && hour <= 20 ? 22 : hour >= 7 && hour <= 9 ? 12 : 0;
      return 16 + peak + ((day * 5 + hour * 3) % 7);
    }),
    demand: hours.map((hour) => 3 + (hour >= 7 && hour <= 21 ? 2 : 0) + ((day + hour) % 2)),
  };
}

/**
 * A schedule's score between 0 and 1: 0.2 for the share of demand that was served, and 0.8 for the
 * share of the possible saving that was saved. An idle schedule serves everything and saves nothing.
 * Orders that the battery cannot carry out are carried out as far as they go.
 */
export function score(day: GridDay, schedule: Schedule): number {
  const idle = run(day, IDLE);
  const played = run(day, schedule);
  const possible = idle.cents - lowestCents(day);
  const saved = possible === 0 ? 0 : Math.max(0, idle.cents - played.cents) / possible;
  return SERVED_WEIGHT * played.served + SAVED_WEIGHT * saved;
}

/** The schedule in a model's text: the text is a JSON array of 24 whole numbers, else `undefined`. */
export function readSchedule(text: string): Schedule | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length !== HOURS) return undefined;
  const numbers = parsed.filter((value): value is number => Number.isInteger(value));
  return numbers.length === HOURS ? numbers : undefined;
}

function run(day: GridDay, schedule: Schedule): { cents: number; served: number } {
  let stored = 0;
  let cents = 0;
  let unserved = 0;
  let wanted = 0;
  for (let hour = 0; hour < HOURS; hour++) {
    const played = playHour(day, hour, stored, schedule[hour] ?? 0);
    stored = played.stored;
    cents += played.cents;
    unserved += played.unserved;
    wanted += day.demand[hour] ?? 0;
  }
  return { cents, served: (wanted - unserved) / wanted };
}

function playHour(day: GridDay, hour: number, stored: number, order: number) {
  const power = Math.max(-POWER_KWH, Math.min(POWER_KWH, order));
  const after = Math.max(0, Math.min(BATTERY_KWH, stored + power));
  const needed = Math.max(0, (day.demand[hour] ?? 0) + after - stored);
  const bought = Math.min(LINE_KWH, needed);
  const unserved = needed - bought;
  return {
    stored: after,
    unserved,
    cents: bought * (day.price[hour] ?? 0) + unserved * UNSERVED_CENTS,
  };
}

// Backwards over the hours: the lowest cost from each state of the battery to the day's end.
function lowestCents(day: GridDay): number {
  const states = Array.from({ length: BATTERY_KWH + 1 }, (_, stored) => stored);
  let rest = states.map(() => 0);
  for (let hour = HOURS - 1; hour >= 0; hour--) {
    const later = rest;
    rest = states.map((stored) =>
      Math.min(
        ...[-2, -1, 0, 1, 2].map((order) => {
          const played = playHour(day, hour, stored, order);
          return played.cents + (later[played.stored] ?? 0);
        }),
      ),
    );
  }
  return rest[0] ?? 0;
}
