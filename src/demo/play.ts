import { request } from "undici";
import type { Dispatcher } from "undici";
import { IDLE } from "./grid.js";

/** A row of the GridSim data set: the day to play and the seconds its simulator has to come up. */
export interface GridRow {
  readonly day: number;
  readonly reset_timeout: number;
}

/** What came back for one day's `/verify`. */
export interface DayAnswer {
  readonly status: number;
  /** The status line's phrase. */
  readonly phrase: string;
  readonly body: string;
}

/** What a client makes of one day. `score` is `undefined` where the client does not count the day. */
export interface DayOutcome {
  readonly score: number | undefined;
  /** One line for a person. */
  readonly shown: string;
}

/** The answer to one row played with an idle schedule: seeds a session, then verifies with its cookie. */
export async function playDay(
  url: string,
  row: GridRow,
  dispatcher: Dispatcher,
): Promise<DayAnswer> {
  const task = {
    responses_create_params: { input: [{ role: "user", content: `Schedule day ${row.day}.` }] },
    ...row,
  };
  const seeded = await request(`${url}/seed_session`, post(task, undefined, dispatcher));
  await seeded.body.dump();
  if (seeded.statusCode !== 200) {
    return { status: seeded.statusCode, phrase: seeded.statusText, body: "" };
  }
  const cookie = [seeded.headers["set-cookie"] ?? []].flat().map((line) => line.split(";")[0]);
  const verify = { ...task, response: modelResponse(JSON.stringify(IDLE)) };
  const verified = await request(`${url}/verify`, post(verify, cookie.join("; "), dispatcher));
  return {
    status: verified.statusCode,
    phrase: verified.statusText,
    body: await verified.body.text(),
  };
}

/** Reads as NeMo Gym's collector does: a masked answer is left out of the scores. */
export function readAsGym(answer: DayAnswer): DayOutcome {
  if (answer.status !== 200) return failed(answer);
  const { reward, mask_sample } = JSON.parse(answer.body) as {
    reward: number;
    mask_sample: boolean;
  };
  return mask_sample
    ? { score: undefined, shown: `${reward.toFixed(2)}, masked` }
    : { score: reward, shown: reward.toFixed(2) };
}

/** Reads as verifiers' NeMo Gym taskset does: an error status raises, anything else is its `reward`. */
export function readAsVerifiers(answer: DayAnswer): DayOutcome {
  if (answer.status >= 400) return failed(answer);
  const { reward } = JSON.parse(answer.body) as { reward: number };
  return { score: reward, shown: reward.toFixed(2) };
}

function failed(answer: DayAnswer): DayOutcome {
  return { score: undefined, shown: `${answer.status} ${answer.phrase}` };
}

function post(body: unknown, cookie: string | undefined, dispatcher: Dispatcher) {
  return {
    dispatcher,
    method: "POST" as const,
    headers: {
      "content-type": "application/json",
      ...(cookie === undefined ? {} : { cookie }),
    },
    body: JSON.stringify(body),
  };
}

function modelResponse(text: string) {
  return {
    id: "resp_demo",
    created_at: 0,
    model: "idle",
    object: "response",
    output: [
      {
        id: "msg_demo",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    status: "completed",
  };
}
