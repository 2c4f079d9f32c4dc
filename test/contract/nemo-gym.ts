import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { peer } from "./peers.js";
import type { Capability } from "./peers.js";
import { freePort, runProgram, startProgram, untilListening } from "./programs.js";
import type { Program } from "./programs.js";
import { pythonEnvironment } from "./python.js";
import { venvVariables } from "./venv.js";

/** A row of a data set, as its server wrote it. */
export type Row = Readonly<Record<string, unknown>>;

/** A real nemo-gym resources server that is running. */
export interface ResourcesServer {
  readonly url: string;
  readonly program: Program;
}

/** How a resources server is started. */
export interface ServerLaunch {
  /** `module:Class`. */
  readonly server: string;
  /** The release that it is of; default: the newest. */
  readonly of?: Capability;
  /** Its config file; default: `configs/NAME.yaml` in its own folder, `NAME`. */
  readonly config?: string;
  /** YAML merged over the config, such as the entry of a judge's model server. */
  readonly globals?: string;
  /** `run_webserver` (default) as Gym's command line does, `verifiers` as its managed server does. */
  readonly style?: "run_webserver" | "verifiers";
}

/** One request of Gym's own client. Those of one session carry the same cookie. */
export interface GymRequest {
  readonly server: string;
  readonly path: string;
  readonly session: string;
  readonly json: Row;
}

/** What Gym's own client got: the phrase, the headers as they stood on the wire, the body's bytes as latin-1. */
export interface GymAnswer {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** How Gym itself counts the /verify answers of one server: its own `select_measured` decides. */
export interface GymReading {
  readonly measured: number;
  readonly masked: number;
  readonly mean: number | null;
}

/** The server class of `gridsim_v1`. */
export const GRIDSIM = "gridsim_v1.app:GridSimServer";

/** The server class of nemo-gym's own equivalence_llm_judge, whose judge is the model server `policy_model`. */
export const JUDGED = "resources_servers.equivalence_llm_judge.app:LLMJudgeResourcesServer";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Starts a real resources server on a free loopback port and waits until it listens. */
export async function startResourcesServer(launch: ServerLaunch): Promise<ResourcesServer> {
  const venv = peer(launch.of ?? "nemo-gym");
  const port = await freePort();
  const program = startProgram({
    name: launch.server,
    command: venv.python,
    args: [
      `${HERE}python/serve_gym.py`,
      launch.style ?? "run_webserver",
      launch.server,
      String(port),
      launch.config ?? "",
      launch.globals ?? "{}",
    ],
    // Some releases let hydra write its logs to where they are started.
    cwd: venv.home,
    env: pythonEnvironment({ ...venvVariables(venv), PYTHONPATH: HERE }),
  });
  await untilListening(program, port);
  return { url: `http://127.0.0.1:${port}`, program };
}

/** The global entry of a model server at `url`, for a server's config that names `name` as its judge. */
export function modelServer(name: string, url: string): string {
  const { hostname, port } = new URL(url);
  return `${name}: {responses_api_models: {stand_in: {entrypoint: app.py, host: ${hostname}, port: ${port}}}}`;
}

/** Sends requests with nemo-gym's own ServerClient, one after the other. */
export async function askWithGym(
  servers: Readonly<Record<string, string>>,
  requests: readonly GymRequest[],
): Promise<{ answers: GymAnswer[]; gym: Record<string, GymReading> }> {
  const venv = peer("nemo-gym");
  const printed = await runProgram(
    {
      name: "gym_client.py",
      command: venv.python,
      args: [`${HERE}python/gym_client.py`],
      cwd: venv.home,
      env: pythonEnvironment(venvVariables(venv)),
    },
    JSON.stringify({ servers, requests }),
  );
  return JSON.parse(printed) as { answers: GymAnswer[]; gym: Record<string, GymReading> };
}

/** What a policy that only says `text` would have /verify see. */
export function modelResponse(text: string): Row {
  return {
    id: "resp_1",
    created_at: 1_790_000_000,
    model: "stand-in",
    object: "response",
    output: [
      {
        id: "msg_1",
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

/** A row of equivalence_llm_judge. */
export function question(text: string, expected: string) {
  const content = `Answer the following question inside \\boxed{}.\n\n${text}`;
  return {
    responses_create_params: { input: [{ role: "user", content }] },
    question: text,
    expected_answer: expected,
  };
}

/** The eight days of GridSim's own data set. */
export async function gridsimRows(): Promise<Row[]> {
  const text = await readFile(`${HERE}gridsim_v1/data/example.jsonl`, "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}
