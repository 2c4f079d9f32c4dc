import { expect, it, vi } from "vitest";
import { answer, request, SCORED } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

vi.mock(import("../../src/proxy/limits.js"), async (original) => ({
  ...(await original()),
  CLIENT_KEEP_ALIVE_MS: 100,
}));

it.each(MODES)(
  "a connection is not idle while an upload that was answered early goes on, in mode %s",
  async (mode) => {
    const upstream = await startUpstream(({ write }) => write(answer(SCORED)));
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    const upload = request("POST", "/verify", { body: "x".repeat(1000) });
    client.write(upload.subarray(0, -500));
    expect((await client.reply("POST")).text).toBe(SCORED);
    const idle = await openClient(proxy.url);
    idle.write(request("GET", "/x"));
    await idle.reply();
    await idle.incoming.ended;
    client.write(upload.subarray(-500));
    const { whole } = await upstream.arrived(1);
    expect((await whole).body.length).toBe(1000);
    expect(await client.incoming.ended).toBe("fin");
  },
);
