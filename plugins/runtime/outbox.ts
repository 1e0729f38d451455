// The outbox: replies on their way to a platform, one conversation in order, tried again until they arrive or are refused.
import { asc, eq, sql } from "drizzle-orm";
import type { Statement } from "../../src/database.ts";
import { template } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import { outbox } from "./schema.ts";

/** Deliveries over all conversations at once. */
const AT_ONCE = 256;
/** Tries before a reply is given up; with the delays below that is about a day. */
const MAX_ATTEMPTS = 40;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 3_600_000;

/** A reply to be delivered. */
export interface Delivery {
  id: string;
  inboxId: string;
  agentId: string;
  platform: string;
  peer: string;
  body: string;
  /** The platform's id of the message that is answered. */
  replyTo: string | null;
  /** A preview that becomes the reply. */
  previewId: string | null;
  /** Ids of the parts that have arrived, in order. */
  parts: string[];
  attempts: number;
}

/** What became of one try. */
export type Outcome =
  | { kind: "sent" }
  /** The platform said no for good. */
  | { kind: "refused"; reason: string }
  /** Try again, not before `after` ms where the platform said so. */
  | { kind: "later"; reason: string; after?: number | undefined };

/** Sends one reply; tells each part as soon as it has arrived. Must not reject. */
export type Deliver = (delivery: Delivery, delivered: (part: string) => void, signal: AbortSignal) => Promise<Outcome>;

export interface Outbox {
  /** For the batch that settles a turn; delivery begins once it is committed. */
  put(reply: Omit<Delivery, "id" | "parts" | "attempts">): Statement;
  /** Who delivers for a platform. */
  deliverVia(platform: string, deliver: Deliver): void;
  /** Takes up what was left when the process ended. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Deps extends Pick<Kernel, "database" | "log"> {
  /** Something the agent's owner should know. */
  report(agentId: string, level: "warning" | "error", message: string): void;
}

export function createOutbox({ database, log, report }: Deps): Outbox {
  const { drizzle } = database;
  const hole = (name: string) => sql.placeholder(name);
  const insert = template(
    drizzle.insert(outbox).values({
      id: hole("id"),
      inboxId: hole("inboxId"),
      agentId: hole("agentId"),
      platform: hole("platform"),
      peer: hole("peer"),
      body: hole("body"),
      replyTo: hole("replyTo"),
      previewId: hole("previewId"),
      parts: "[]",
      status: "pending",
      attempts: 0,
      createdAt: hole("createdAt"),
    }),
  );
  const deliverers = new Map<string, Deliver>();
  /** By conversation: only the head is under way. */
  const waiting = new Map<string, Delivery[]>();
  const ready: string[] = [];
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  const conversation = ({ agentId, platform, peer }: Delivery) => `${agentId} ${platform} ${peer}`;

  function line(delivery: Delivery): void {
    const key = conversation(delivery);
    const others = waiting.get(key);
    if (others) others.push(delivery);
    else {
      waiting.set(key, [delivery]);
      ready.push(key);
    }
    pump();
  }

  function pump(): void {
    while (underWay.size < AT_ONCE && ready.length > 0 && !stopping.signal.aborted) {
      const key = ready.shift() ?? "";
      const delivery = waiting.get(key)?.[0];
      if (!delivery) continue;
      const work = attempt(key, delivery);
      underWay.add(work);
      void work.finally(() => {
        underWay.delete(work);
        pump();
      });
    }
  }

  async function attempt(key: string, delivery: Delivery): Promise<void> {
    try {
      const outcome = await tryOnce(delivery);
      if (stopping.signal.aborted && outcome.kind === "later") return;
      await record(delivery, outcome);
      if (outcome.kind === "later" && delivery.attempts < MAX_ATTEMPTS) return again(key, outcome.after);
    } catch (error) {
      // The delivery itself doesn't reject: this is our own storage.
      log.error("a delivery could not be recorded", { agentId: delivery.agentId, error });
      return again(key, FIRST_DELAY);
    }
    const others = waiting.get(key);
    others?.shift();
    if (others && others.length > 0) ready.push(key);
    else waiting.delete(key);

    function again(line: string, after: number | undefined): void {
      const delay = after ?? Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(delivery.attempts, 20));
      const jitter = delay * (1 + Math.random() / 4);
      setTimeout(() => {
        ready.push(line);
        pump();
      }, jitter).unref();
    }
  }

  async function tryOnce(delivery: Delivery): Promise<Outcome> {
    const deliver = deliverers.get(delivery.platform);
    if (!deliver) return { kind: "later", reason: `Nothing delivers for ${delivery.platform}.` };
    return deliver(delivery, (part) => delivered(delivery, part), stopping.signal);
  }

  /** Each part is put down as it arrives, so that a kill between two parts repeats neither. */
  function delivered(delivery: Delivery, part: string): void {
    delivery.parts.push(part);
    const parts = JSON.stringify(delivery.parts);
    database
      .write([{ sql: "UPDATE outbox SET parts = ? WHERE id = ?", args: [parts, delivery.id] }])
      .catch((error: unknown) => log.error("a delivered part could not be recorded", { error }));
  }

  async function record(delivery: Delivery, outcome: Outcome): Promise<void> {
    delivery.attempts++;
    if (outcome.kind === "sent") {
      const args = [delivery.attempts, Date.now(), delivery.id];
      await database.write([
        { sql: "UPDATE outbox SET status = 'sent', error = NULL, attempts = ?, sent_at = ? WHERE id = ?", args },
      ]);
      return;
    }
    const failed = outcome.kind === "refused" || delivery.attempts >= MAX_ATTEMPTS;
    const args = [failed ? "failed" : "pending", delivery.attempts, outcome.reason, delivery.id];
    await database.write([{ sql: "UPDATE outbox SET status = ?, attempts = ?, error = ? WHERE id = ?", args }]);
    if (failed) report(delivery.agentId, "error", `A reply was not delivered: ${outcome.reason}`);
    else report(delivery.agentId, "warning", `A reply waits to be delivered again: ${outcome.reason}`);
  }

  return {
    put(reply) {
      const delivery: Delivery = { ...reply, id: Bun.randomUUIDv7(), parts: [], attempts: 0 };
      const { parts: _, attempts: __, ...row } = delivery;
      return { ...insert({ ...row, createdAt: Date.now() }), after: () => line(delivery) };
    },

    deliverVia: (platform, deliver) => void deliverers.set(platform, deliver),

    async start() {
      const rows = await drizzle.select().from(outbox).where(eq(outbox.status, "pending")).orderBy(asc(outbox.id));
      for (const row of rows) line({ ...row, parts: JSON.parse(row.parts) as string[] });
    },

    async stop() {
      stopping.abort(new DOMException("Berth is stopping.", "AbortError"));
      await Promise.allSettled(underWay);
    },
  };
}
