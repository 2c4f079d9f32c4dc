import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { modelResponse } from "./nemo-gym.js";

/** A model that is played by a function of the test. */
export interface StandIn {
  /** Its base URL, without `/v1`. */
  readonly url: string;
  close(): Promise<void>;
}

/** What the model is asked: the last thing the user said, and the tool answers that came since. */
export interface Turn {
  readonly user: string;
  readonly toolAnswers: readonly string[];
}

/** What the model does: it says something, or it calls a tool. */
export type Move =
  | { readonly say: string }
  | { readonly call: string; readonly arguments: Readonly<Record<string, unknown>> };

interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** Starts a chat-completions model at `/v1/chat/completions` that says what `play` does, streamed where it is asked to. */
export function startChatModel(play: (turn: Turn) => Move): Promise<StandIn> {
  return startStandIn((path, body, reply) => {
    if (path !== "/v1/chat/completions") return send(reply, 404, {});
    const request = JSON.parse(body) as ChatRequest;
    const user = request.messages.findLast((message) => message.role === "user");
    const toolAnswers = request.messages.filter((message) => message.role === "tool");
    const move = play({
      user: textOf(user?.content),
      toolAnswers: toolAnswers.map((message) => textOf(message.content)),
    });
    return request.stream === true
      ? stream(reply, request.model, move)
      : send(reply, 200, completion(request.model, move));
  });
}

/**
 * Starts a judge at `/v1/responses`, which also counts behind `/ng-rollout/<id>`: it says what `judge` returns for its
 * prompt, or answers with that status.
 */
export function startJudge(judge: (prompt: string) => string | number): Promise<StandIn> {
  return startStandIn((path, body, reply) => {
    if (!/^(?:\/ng-rollout\/[^/]+)?\/v1\/responses$/.test(path)) return send(reply, 404, {});
    const said = judge(body);
    return typeof said === "number"
      ? send(reply, said, { error: "the judge is down" })
      : send(reply, 200, modelResponse(said));
  });
}

async function startStandIn(
  answer: (path: string, body: string, reply: ServerResponse) => void,
): Promise<StandIn> {
  const server = createServer((request, reply) => {
    readBody(request)
      .then((body) => answer(request.url ?? "", body, reply))
      .catch((error: unknown) => reply.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function completion(model: string, move: Move) {
  const base = { id: "chatcmpl-1", created: 1_790_000_000, model, object: "chat.completion" };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const finish = "say" in move ? "stop" : "tool_calls";
  return { ...base, choices: [{ index: 0, message: deltaOf(move), finish_reason: finish }], usage };
}

function stream(reply: ServerResponse, model: string, move: Move): void {
  const base = { id: "chatcmpl-1", created: 1_790_000_000, model, object: "chat.completion.chunk" };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const finish = "say" in move ? "stop" : "tool_calls";
  const events = [
    { ...base, choices: [{ index: 0, delta: deltaOf(move), finish_reason: null }] },
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { ...base, choices: [], usage },
  ];
  reply.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) reply.write(`data: ${JSON.stringify(event)}\n\n`);
  reply.end("data: [DONE]\n\n");
}

function deltaOf(move: Move) {
  if ("say" in move) return { role: "assistant", content: move.say };
  const called = { name: move.call, arguments: JSON.stringify(move.arguments) };
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ index: 0, id: `call_${move.call}`, type: "function", function: called }],
  };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}

function send(reply: ServerResponse, status: number, body: unknown): void {
  reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
