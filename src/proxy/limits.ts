/** The largest header accepted from either side, in bytes: uvicorn's own limit (h11_max_incomplete_event_size; httptools 64 KiB). */
export const MAX_HEADER_BYTES = 64 * 1024;

/** How long an idle connection of a client is kept, in milliseconds: longer than any known client's pool (Gym: 15 s, server_utils.py:383). */
export const CLIENT_KEEP_ALIVE_MS: number = 75_000;

/** How long a client may take to send its header, in milliseconds. There is no limit on its body or on the wait for an answer. */
export const CLIENT_HEADER_MS: number = 80_000;
