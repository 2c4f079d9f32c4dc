"""The grid of GridSim: a site with a battery and a line, one day of 24 hours, and a score."""

HOURS = 24
IDLE = [0] * HOURS
BATTERY_KWH = 4
POWER_KWH = 2
LINE_KWH = 8
UNSERVED_CENTS = 100


def prices(day: int) -> list[int]:
    """Cents for one kWh in each hour of the day: cheap nights, two peaks."""
    return [16 + _peak(hour) + (day * 5 + hour * 3) % 7 for hour in range(HOURS)]


def demands(day: int) -> list[int]:
    """What the site uses in each hour of the day, in kWh."""
    return [3 + (2 if 7 <= hour <= 21 else 0) + (day + hour) % 2 for hour in range(HOURS)]


def score(day: int, schedule: list[int]) -> float:
    """0.2 for the share of demand that was served, 0.8 for the share of the possible saving that was saved.

    An idle schedule serves everything and saves nothing: 0.2 on every day.
    """
    idle_cents, _ = _run(day, IDLE)
    cents, served = _run(day, schedule)
    possible = idle_cents - _lowest_cents(day)
    return 0.2 * served + 0.8 * max(0, idle_cents - cents) / possible


def _peak(hour: int) -> int:
    if 17 <= hour <= 20:
        return 22
    return 12 if 7 <= hour <= 9 else 0


def _run(day: int, schedule: list[int]) -> tuple[int, float]:
    stored = cents = unserved = 0
    for hour, order in enumerate(schedule):
        stored, hour_cents, hour_unserved = _play_hour(day, hour, stored, order)
        cents += hour_cents
        unserved += hour_unserved
    wanted = sum(demands(day))
    return cents, (wanted - unserved) / wanted


def _play_hour(day: int, hour: int, stored: int, order: int) -> tuple[int, int, int]:
    power = max(-POWER_KWH, min(POWER_KWH, order))
    after = max(0, min(BATTERY_KWH, stored + power))
    needed = max(0, demands(day)[hour] + after - stored)
    bought = min(LINE_KWH, needed)
    unserved = needed - bought
    return after, bought * prices(day)[hour] + unserved * UNSERVED_CENTS, unserved


def _lowest_cents(day: int) -> int:
    # Backwards over the hours: the lowest cost from each state of the battery to the day's end.
    states = range(BATTERY_KWH + 1)
    rest = [0 for _ in states]
    for hour in reversed(range(HOURS)):
        played = [
            [_play_hour(day, hour, stored, order) for order in range(-POWER_KWH, POWER_KWH + 1)] for stored in states
        ]
        rest = [min(cents + rest[after] for after, cents, _ in orders) for orders in played]
    return rest[0]
