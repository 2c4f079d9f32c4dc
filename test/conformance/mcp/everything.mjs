// An MCP server with everything that the scenarios of @modelcontextprotocol/conformance ask for, on the SDK's own streamable HTTP transport: sessions, event
// streams that are closed and resumed, requests back to the client, and the check of Host against DNS rebinding.
// It runs where the SDK is installed (see install.ts), prints its URL to standard error and ends with its standard input.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const STEP_MS = 50;
const RETRY_MS = 500;
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

const text = (value) => ({ type: "text", text: value });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const resource = (uri, mimeType, value) => ({
  type: "resource",
  resource: { uri, mimeType, text: value },
});
const say = (...content) => ({ content });

const elicit = async (extra, message, properties, required = []) => {
  const params = { message, requestedSchema: { type: "object", properties, required } };
  return extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
};
const elicited = ({ action, content }) =>
  say(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`));
const log = async (extra, data) =>
  extra.sendNotification({ method: "notifications/message", params: { level: "info", data } });

const withMessage = (name) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

const tools = {
  test_simple_text: { run: () => say(text("This is a simple text response for testing.")) },
  test_image_content: { run: () => say(image) },
  test_audio_content: { run: () => say({ type: "audio", data: WAV, mimeType: "audio/wav" }) },
  test_embedded_resource: {
    run: () =>
      say(
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
      ),
  },
  test_multiple_content_types: {
    run: () =>
      say(
        text("Multiple content types test:"),
        image,
        resource(
          "test://mixed-content-resource",
          "application/json",
          '{"test":"data","value":123}',
        ),
      ),
  },
  test_tool_with_logging: {
    run: async (_, extra) => {
      await log(extra, "Tool execution started");
      await setTimeout(STEP_MS);
      await log(extra, "Tool processing data");
      await setTimeout(STEP_MS);
      await log(extra, "Tool execution completed");
      return say(text("Tool with logging executed successfully"));
    },
  },
  test_error_handling: {
    run: () => ({
      isError: true,
      ...say(text("This tool intentionally returns an error for testing")),
    }),
  },
  test_tool_with_progress: {
    run: async (_, extra) => {
      const { progressToken } = extra._meta ?? {};
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await setTimeout(STEP_MS);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress, total: 100 };
        await extra.sendNotification({ method: "notifications/progress", params });
      }
      return say(text(String(progressToken)));
    },
  },
  test_sampling: {
    inputSchema: withMessage("prompt"),
    run: async ({ prompt }, extra) => {
      const messages = [{ role: "user", content: text(prompt) }];
      const request = { method: "sampling/createMessage", params: { messages, maxTokens: 100 } };
      const { content } = await extra.sendRequest(request, CreateMessageResultSchema);
      return say(text(`LLM response: ${content.text}`));
    },
  },
  test_elicitation: {
    inputSchema: withMessage("message"),
    run: async ({ message }, extra) => {
      const properties = {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      };
      const { action, content } = await elicit(extra, message, properties, ["username", "email"]);
      return say(
        text(`User response: action: ${action}, content: ${JSON.stringify(content ?? {})}`),
      );
    },
  },
  test_elicitation_sep1034_defaults: {
    run: async (_, extra) =>
      elicited(
        await elicit(extra, "Please review the defaults", {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        }),
      ),
  },
  test_elicitation_sep1330_enums: {
    run: async (_, extra) => {
      const options = ["option1", "option2", "option3"];
      const titled = (word) =>
        ["First", "Second", "Third"].map((nth, at) => ({
          const: `value${at + 1}`,
          title: `${nth} ${word}`,
        }));
      return elicited(
        await elicit(extra, "Please select options", {
          untitledSingle: { type: "string", enum: options },
          titledSingle: { type: "string", oneOf: titled("Option") },
          legacyEnum: {
            type: "string",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"],
          },
          untitledMulti: { type: "array", items: { type: "string", enum: options } },
          titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
        }),
      );
    },
  },
  json_schema_2020_12_tool: {
    description: "Tool with JSON Schema 2020-12 features",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    run: () => say(text("done")),
  },
  test_reconnection: {
    run: async (_, extra) => {
      extra.closeSSEStream?.();
      await setTimeout(2 * STEP_MS);
      return say(text("Reconnection test completed successfully"));
    },
  },
};

const user = (content) => ({ role: "user", content });
const prompts = {
  test_simple_prompt: { run: () => [user(text("This is a simple prompt for testing."))] },
  test_prompt_with_arguments: {
    arguments: ["arg1", "arg2"],
    run: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    arguments: ["resourceUri"],
    run: ({ resourceUri }) => [
      user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
      user(text("Please process the embedded resource above.")),
    ],
  },
  test_prompt_with_image: {
    run: () => [user(image), user(text("Please analyze the image above."))],
  },
};

const resources = {
  "test://static-text": {
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "watched" },
};

function readResource(uri) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return { uri, ...resources[uri] };
  const value = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { uri, mimeType: "application/json", text: JSON.stringify(value) };
}

function createEverything() {
  const server = new Server(
    { name: "everything", version: "1.0.0" },
    {
      capabilities: {
        tools: {},
        prompts: {},
        resources: { subscribe: true },
        logging: {},
        completions: {},
      },
    },
  );
  const on = (schema, answer) => server.setRequestHandler(schema, answer);
  on(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description = name, inputSchema }]) => ({
      name,
      description,
      inputSchema: inputSchema ?? { type: "object" },
    })),
  }));
  on(CallToolRequestSchema, ({ params }, extra) => tools[params.name].run(params.arguments, extra));
  on(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: name,
      arguments: (prompt.arguments ?? []).map((argument) => ({
        name: argument,
        description: argument,
        required: true,
      })),
    })),
  }));
  on(GetPromptRequestSchema, ({ params }) => ({
    messages: prompts[params.name].run(params.arguments),
  }));
  on(ListResourcesRequestSchema, () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      uri,
      name: uri,
      description: uri,
      mimeType,
    })),
  }));
  on(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template" }],
  }));
  on(ReadResourceRequestSchema, ({ params }) => ({ contents: [readResource(params.uri)] }));
  on(SubscribeRequestSchema, () => ({}));
  on(UnsubscribeRequestSchema, () => ({}));
  on(CompleteRequestSchema, () => ({
    completion: { values: ["paris", "park", "party"], total: 3, hasMore: false },
  }));
  return server;
}

/** What was sent on each event stream, so that one can be resumed. */
function createEvents() {
  const events = [];
  return {
    storeEvent: (stream, message) => {
      events.push({ stream, message });
      return Promise.resolve(String(events.length - 1));
    },
    replayEventsAfter: async (last, { send }) => {
      const { stream } = events[Number(last)];
      for (const [id, event] of [...events.entries()].slice(Number(last) + 1)) {
        const isPriming = Object.keys(event.message).length === 0;
        if (event.stream === stream && !isPriming) await send(String(id), event.message);
      }
      return stream;
    },
  };
}

const sessions = new Map();

async function startSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: createEvents(),
    retryInterval: RETRY_MS,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
    onsessionclosed: (id) => {
      sessions.delete(id);
    },
  });
  await createEverything().connect(transport);
  return transport;
}

const isLocal = (url) => URL.canParse(url) && LOCAL.has(new URL(url).hostname);

async function serve(request, reply) {
  // By Host alone: were Origin looked at as well, a proxy that rewrites Host would go unnoticed.
  if (!isLocal(`http://${request.headers.host}`)) {
    reply.writeHead(403, { "content-type": "text/plain" }).end("not from here");
    return;
  }
  const transport = sessions.get(request.headers["mcp-session-id"]) ?? (await startSession());
  await transport.handleRequest(request, reply);
}

const server = createServer((request, reply) => {
  void serve(request, reply);
});
server.listen(0, "127.0.0.1", () => console.error(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().once("end", () => process.exit(0));
