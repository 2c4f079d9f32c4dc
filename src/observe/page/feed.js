const RETRY_MS = 2000;
const TOKEN = "maskgate-token";

/** Keeps the token for this tab alone. */
export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/**
 * Reads /events for ever. Not by EventSource, which cannot send the token.
 *
 * `on.status` gets each status, `on.lost` is called when the connection is gone, and `on.refused` when a token is asked for: reading ends then.
 */
export async function readEvents(on) {
  for (;;) {
    try {
      const token = sessionStorage.getItem(TOKEN);
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      const answer = await fetch("events", { headers });
      if (answer.status === 401) {
        on.refused(token !== null);
        return;
      }
      if (answer.ok) await readAll(answer.body, on.status);
    } catch {
      // Told of below, as a connection that ended.
    }
    on.lost();
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function readAll(body, onStatus) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      if (event.startsWith("data: ")) onStatus(JSON.parse(event.slice("data: ".length)));
    }
  }
}
