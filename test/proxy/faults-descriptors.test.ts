import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventually } from "../helpers/eventually.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, request, SCORED, verify } from "../helpers/messages.js";
import { MODES } from "../helpers/modes.js";
import { startProgramInMode } from "../helpers/program.js";
import { openClient, rawRequest, type RawClient, type Reply } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const LIMIT = 256;
/** The descriptors that are left when clients ask for what needs one more each, and how many do. */
const LEFT = 6;
const ASKING = 20;

describe.runIf(process.platform === "linux").each(MODES)(
  "a process without a file descriptor to spare (%s)",
  (mode) => {
    it("answers 502 where it cannot reach the upstream, goes on, and serves again when clients leave", async () => {
      const upstream = await startUpstream(async ({ received, whole, write }) => {
        await whole;
        if (received.target !== "/wait") write(answer(SCORED));
      });
      const { url, child, finished } = await startProgramInMode(mode, upstream, "", {
        shell: `ulimit -n ${LIMIT};`,
      });
      const used = (): number => readdirSync(`/proc/${child.pid}/fd`).length;
      const clients: RawClient[] = [];
      // Whoever has been answered has been taken, and keeps a connection.
      while (used() < LIMIT - LEFT) {
        const client = await openClient(url);
        clients.push(client);
        client.write(request("GET", "/"));
        expect((await client.reply()).status).toBe(200);
      }
      const replies: Reply[] = [];
      for (const client of clients.slice(0, ASKING)) {
        client.write(request("POST", "/wait", { body: "{}" }));
        void client.reply("POST").then(
          (reply) => replies.push(reply),
          () => undefined,
        );
      }
      await eventually(() => expect(replies.length).toBeGreaterThanOrEqual(ASKING - LEFT - 1));
      for (const reply of replies) {
        expect(reply.status).toBe(502);
        expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
        expect(reply.text).toContain("EMFILE");
      }
      // Those that it cannot even take are nothing that ends it.
      for (let n = 0; n < 50; n += 1) clients.push(await openClient(url));
      for (const client of clients) client.destroy();
      let reply: Reply | undefined;
      while (reply?.status !== 200) reply = await rawRequest(url, verify()).catch(() => undefined);
      expect(reply.text).toBe(SCORED);
      child.kill("SIGTERM");
      expect((await finished).code).toBe(0);
    });
  },
);
