import cluster from "node:cluster";
import { setTimeout as after } from "node:timers/promises";
import type { Config } from "../config/config.js";
import { logEvent, type Logger } from "../observe/log.js";
import { Member } from "./member.js";
import type { Load, Order, Report } from "./messages.js";

/** A worker that ends sooner than this was no good from its start, in milliseconds. */
const CALM_MS = 10_000;
/** How often in a row that may happen, and how long until the next is started: doubled each time, in milliseconds. */
const MOST_EARLY_ENDS = 5;
const PAUSE_MS = 250;
/** How long a worker that hangs is waited for, in milliseconds. */
const PATIENCE_MS = 1000;
const LAST_PATIENCE_MS = 5000;

/** What a crew is made from. */
export interface CrewParts {
  /** The script that a worker runs. */
  readonly script: string;
  readonly size: number;
  readonly log: Logger;
  /** What a worker that starts now works by. */
  config(): Config;
  onReport(report: Report): void;
  /** Told when workers end as soon as they have started, again and again. */
  giveUp(this: void, says: string): never;
}

/** The workers: started, replaced when they die, and asked all together. */
export class Crew {
  readonly #parts: CrewParts;
  /** Those that serve. */
  readonly #members = new Set<Member>();
  /** Those, and those that are about to or have not ended yet. */
  readonly #alive = new Set<Member>();
  #last: Promise<unknown> = Promise.resolve();
  #spilledByEnded = 0;
  /** Aborted once none is replaced any more. */
  readonly #ending = new AbortController();
  #closing = false;
  /** Where clients reach each of them. */
  urls: readonly string[] = [];

  constructor(parts: CrewParts) {
    this.#parts = parts;
    cluster.setupPrimary({ exec: parts.script, args: [], serialization: "advanced" });
  }

  /** Starts all of them. @throws {ProxyError} LISTEN_FAILED and what else one fails with; none is left then. */
  async start(): Promise<void> {
    const slots = Array.from({ length: this.#parts.size }, (_, index) => index + 1);
    const started = await Promise.allSettled(slots.map(async (slot) => this.#startOne(slot)));
    const failed = started.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      await this.close();
      throw failed.reason;
    }
    for (const result of started) {
      if (result.status === "fulfilled") void this.#keep(result.value);
    }
  }

  /** What all of them carry. */
  get load(): Load {
    const loads = [...this.#members].map(({ load }) => load);
    const sum = (of: keyof Load): number => loads.reduce((total, load) => total + load[of], 0);
    return {
      inFlight: sum("inFlight"),
      heldBytes: sum("heldBytes"),
      spilledBytes: sum("spilledBytes") + this.#spilledByEnded,
    };
  }

  /** Does this while no worker is being started and nothing else is done in turn. */
  async inTurn<T>(doIt: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = (async (): Promise<T> => {
      await before.catch(() => undefined);
      return doIt();
    })();
    this.#last = done;
    return done;
  }

  /**
   * Has each of them carry out an order; one that does not for long is killed, and so replaced.
   *
   * @throws {ProxyError} with what the first of them failed with, once all are done.
   */
  async askAll(order: Order): Promise<unknown[]> {
    const asked = await Promise.allSettled(
      [...this.#members].map(async (member) => this.#askOrKill(member, order)),
    );
    return asked.map((result) => {
      if (result.status === "rejected") throw result.reason;
      return result.value;
    });
  }

  /** The same; who does not answer soon is left out. */
  async askQuickly(order: Order): Promise<unknown[]> {
    const members = [...this.#members].toSorted((a, b) => a.slot - b.slot);
    const answers = await Promise.all(members.map(async (m) => m.askFor(PATIENCE_MS, order)));
    return answers.filter((answer) => answer !== undefined);
  }

  /** Lets what is in flight finish; none is replaced any more. */
  async drain(): Promise<void> {
    this.#ending.abort();
    await this.inTurn(async () => undefined);
    await Promise.all([...this.#members].map(async (member) => member.ask({ type: "drain" })));
  }

  /** Ends all of them at once. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#closing = true;
    const members = [...this.#alive];
    await Promise.all(
      members.map(async (member) => {
        void member.ask({ type: "close" }).catch(() => undefined);
        await Promise.race([member.ended, after(LAST_PATIENCE_MS, undefined, { ref: false })]);
        member.kill();
        await member.ended;
      }),
    );
  }

  async #askOrKill(member: Member, order: Order): Promise<unknown> {
    const { slot, pid } = member;
    const tooLate = setTimeout(() => {
      const says = `worker ${slot} has not answered for ${LAST_PATIENCE_MS / 1000} s and is killed`;
      logEvent(this.#parts.log, "error", "worker_stuck", { worker: slot, pid }, says);
      member.kill();
    }, LAST_PATIENCE_MS);
    try {
      return await member.ask(order);
    } finally {
      clearTimeout(tooLate);
    }
  }

  async #startOne(slot: number): Promise<Member> {
    // A close does not wait for who waits for his turn.
    if (this.#ending.signal.aborted) throw new Error("no worker is started any more");
    const member = new Member(slot, (report) => this.#parts.onReport(report));
    this.#alive.add(member);
    void member.ended.then(() => this.#alive.delete(member));
    try {
      const urls = await member.ask({ type: "start", slot, config: this.#parts.config() });
      if (urls === undefined) throw new Error(`worker ${slot} ended with ${await member.ended}`);
      this.#listensAt(urls as readonly string[]);
    } catch (error) {
      member.kill();
      throw error;
    }
    this.#members.add(member);
    return member;
  }

  #listensAt(urls: readonly string[]): void {
    if (this.urls.length === 0) this.urls = urls;
    // Port 0 is another one once no worker is left that knows it.
    if (this.urls.join() === urls.join()) return;
    throw new Error(`a worker listens at ${urls.join(" and ")}, not ${this.urls.join(" and ")}`);
  }

  /** Puts another worker in the place of one that ends, and so on. */
  async #keep(first: Member): Promise<void> {
    const { slot } = first;
    const { signal } = this.#ending;
    let early = 0;
    for (let life = this.#live(first); ; life = this.#another(slot)) {
      const { how, wasCalm } = await life;
      early = wasCalm ? 0 : early + 1;
      if (early === MOST_EARLY_ENDS && !signal.aborted) {
        const says = `worker ${slot} ended ${early} times in a row within ${CALM_MS / 1000} s of its start, at last with ${how}`;
        this.#parts.giveUp(says);
      }
      const pause = early === 0 ? 0 : PAUSE_MS * 2 ** (early - 1);
      // Perhaps nothing else keeps this process alive until then.
      await after(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  async #another(slot: number): Promise<Ended> {
    try {
      const member = await this.inTurn(async () => this.#startOne(slot));
      const { pid } = member;
      const says = `worker ${slot} is there again`;
      logEvent(this.#parts.log, "info", "worker_started", { worker: slot, pid }, says);
      return await this.#live(member);
    } catch (error) {
      const how = error instanceof Error ? error.message : String(error);
      if (!this.#ending.signal.aborted)
        this.#tellOf(slot, {}, `worker ${slot} could not be started: ${how}`);
      return { how, wasCalm: false };
    }
  }

  /** The life of a worker that serves, to its end. */
  async #live(member: Member): Promise<Ended> {
    const { slot, pid } = member;
    const born = performance.now();
    const how = await member.ended;
    this.#members.delete(member);
    this.#spilledByEnded += member.load.spilledBytes;
    if (!this.#closing) {
      const says = `worker ${slot} ended with ${how}; what it had in flight was broken off`;
      this.#tellOf(slot, { pid, how }, says);
    }
    return { how, wasCalm: performance.now() - born >= CALM_MS };
  }

  #tellOf(worker: number, fields: object, says: string): void {
    logEvent(this.#parts.log, "error", "worker_ended", { worker, ...fields }, says);
  }
}

interface Ended {
  readonly how: string;
  readonly wasCalm: boolean;
}
