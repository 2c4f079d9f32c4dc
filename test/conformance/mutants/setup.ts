import { beforeAll, vi } from "vitest";
import { ProxyError } from "../../../src/errors.js";
import type { Mutant } from "./mutant.js";

// Every proxy that a test of this run starts in its process is the mutant that PROXY_MUTANT names.
async function loadMutant(): Promise<Mutant> {
  const { MUTANTS } = await import("./mutants.js");
  const name = process.env["PROXY_MUTANT"] ?? "";
  if (!Object.hasOwn(MUTANTS, name)) throw new Error(`no mutant "${name}"`);
  return MUTANTS[name as keyof typeof MUTANTS];
}

// The mutants need the fields' own module, so it cannot wait for them.
const fields = vi.hoisted(() => ({ mutant: undefined as Mutant | undefined }));
beforeAll(async () => {
  fields.mutant = await loadMutant();
});

vi.mock(import("../../../src/http/headers.js"), async (load) => {
  const real = await load();
  const kept = (right: string[], all: readonly string[]): string[] =>
    fields.mutant?.kept?.(right, all) ?? right;
  return {
    ...real,
    endToEnd: (headers) => kept(real.endToEnd(headers), headers),
    requestHeaders: (method, headers) => kept(real.requestHeaders(method, headers), headers),
  };
});

vi.mock(import("../../../src/mask/scan.js"), async (load) => {
  const { AnswerScan } = await load();
  const mutant = await loadMutant();
  return { AnswerScan: mutant.scan?.(AnswerScan) ?? AnswerScan };
});

vi.mock(import("../../../src/route/verify-path.js"), async (load) => {
  const real = await load();
  const { verifyPath = real.verifyPath } = await loadMutant();
  return { ...real, verifyPath };
});

vi.mock(import("../../../src/proxy/upgrade.js"), async (load) => {
  const real = await load();
  const mutant = await loadMutant();
  return {
    ...real,
    createUpgrades: (...parts) => {
      const upgrades = real.createUpgrades(...parts);
      return {
        ...upgrades,
        handle: (request, socket, head) => {
          mutant.upgrade?.(request, socket);
          upgrades.handle(request, socket, head);
        },
      };
    },
  };
});

vi.mock(import("../../../src/proxy/forward.js"), async (load) => {
  const real = await load();
  const mutant = await loadMutant();
  return {
    ...real,
    forward: (asked, request, outgoing, handler) => {
      const transport = mutant.transport?.(asked) ?? asked;
      const sent = mutant.outgoing?.(outgoing, transport) ?? outgoing;
      return real.forward(transport, request, sent, {
        onContinue: () => handler.onContinue(),
        onFailure: (error) => handler.onFailure(error),
        onAnswer: (answer) => {
          const given = mutant.answer?.(answer, transport, outgoing) ?? answer;
          if (given instanceof Promise) {
            given.then(
              (late) => handler.onAnswer(late),
              () =>
                handler.onFailure(new ProxyError("ANSWER_CUT_SHORT", "the mutant was left alone")),
            );
          } else handler.onAnswer(given);
        },
      });
    },
  };
});
