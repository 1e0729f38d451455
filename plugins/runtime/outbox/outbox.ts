// The outbox: replies on their way to a platform, one conversation in order, tried again until they arrive or are refused.
import { and, asc, eq, sql } from "drizzle-orm";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { statementTemplate } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { InboxEntry } from "../inbox/inbox.ts";
import { createLanes, LANE_LIMITS, type RunResult } from "../lanes/lanes.ts";
import type { Delivery, DeliveryOutcome, Platforms } from "../platforms.ts";
import { outbox } from "../schema.ts";

/** At once; one agent whose platform is slow takes no more than its share. */
const LIMITS = { ...LANE_LIMITS, perAgent: 16, inFlight: 256 };
/** Tries before a reply is given up; with the delays below that is about a day. */
const MAX_ATTEMPTS = 40;
const FIRST_DELAY = 500;
const MAX_DELAY = 3_600_000;
/** Milliseconds that sends in flight get when the process ends. */
const STOP_GRACE = 2_000;
/** Milliseconds for which somebody is kept waiting who asks what became of a reply. */
const RECORDED_WITHIN = 3_000;

/** As text: with a bound value SQLite can't know that the partial index holds all of them. */
const isPending = sql`${outbox.status} = 'pending'`;

export interface Outbox {
  /** For the batch that settles a turn; delivery begins once it is committed. */
  enqueueStatement(reply: Omit<Delivery, "id" | "parts" | "attempts">): Statement;
  /** The statement that enqueues the reply to an entry from a channel; none for other entries, whose callers wait for it. */
  replyStatements(entry: InboxEntry, body: string): Statement[];
  /**
   * Whether what is known of these replies of an agent is written. Tries that are under way are waited for, and those still to
   * come for what a process before this one left; false when that takes too long.
   */
  areDeliveriesRecorded(agentId: string, ids: string[]): Promise<boolean>;
  /** Takes up what was left when the process ended. */
  start(): Promise<void>;
  /** Takes up what waits for this agent in the database. */
  resume(agentId: string): void;
  /** The same, if something of it was held: for whoever doesn't know whether it is up by now. */
  wake(agentId: string): void;
  /** The agent is gone, with its rows. */
  drop(agentId: string): void;
  /** Replies held in memory, waiting or under way. */
  size(): number;
  /** What has not arrived by then stays for the next start. */
  stop(): Promise<void>;
}

interface Deps extends Pick<Kernel, "database" | "log"> {
  /** The hooks that plugins/channels registers (`createPlatformHooks` in delivery/reply-delivery.ts). */
  platforms: Pick<Platforms, "of">;
  /** Something the agent's owner should know. */
  logToOwner(agentId: string, level: "warning" | "error", message: string): void;
  /** Milliseconds before the second try; it doubles from then on. */
  firstDelay?: number;
}

export function createOutbox({ database, log, platforms, logToOwner, firstDelay = FIRST_DELAY }: Deps): Outbox {
  const { drizzle } = database;
  const placeholder = (name: string) => sql.placeholder(name);
  const insert = statementTemplate(
    drizzle.insert(outbox).values({
      id: placeholder("id"),
      inboxId: placeholder("inboxId"),
      agentId: placeholder("agentId"),
      platform: placeholder("platform"),
      peer: placeholder("peer"),
      body: placeholder("body"),
      replyTo: placeholder("replyTo"),
      previewId: placeholder("previewId"),
      parts: "[]",
      status: "pending",
      attempts: 0,
      createdAt: placeholder("createdAt"),
    }),
  );
  const selectPending = drizzle
    .select({
      id: outbox.id,
      inboxId: outbox.inboxId,
      agentId: outbox.agentId,
      platform: outbox.platform,
      peer: outbox.peer,
      body: outbox.body,
      replyTo: outbox.replyTo,
      previewId: outbox.previewId,
      parts: outbox.parts,
      attempts: outbox.attempts,
      createdAt: outbox.createdAt,
    })
    .from(outbox)
    .where(and(isPending, eq(outbox.agentId, placeholder("agentId"))))
    .orderBy(asc(outbox.id))
    .limit(placeholder("limit"))
    .prepare();
  const stopping = new AbortController();
  const startedAt = Date.now();
  /** Replies that are being tried, with their agents, and who wait for it to be written what came of it. */
  const inFlight = new Map<string, string>();
  const recordWaiters = new Map<string, (recorded: boolean) => void>();
  /** Agents of which something is held. */
  const heldAgents = new Set<string>();
  let wakeCount = 0;

  const lanes = createLanes<Delivery>({
    run: attempt,
    async load(agentId, limit) {
      const rows = await selectPending.execute({ agentId, limit });
      return rows.map(({ createdAt, ...row }) => ({
        ...row,
        parts: JSON.parse(row.parts) as string[],
        // A process before this one may have ended after sending it, and before it could say so: that was a try too.
        attempts: createdAt < startedAt ? Math.max(row.attempts, 1) : row.attempts,
      }));
    },
    laneOf: ({ platform, peer }) => `${platform} ${peer}`,
    // A delivery doesn't reject: this is our own storage.
    onError: (error) => log.error("the outbox could not be read or written", { error }),
    limits: LIMITS,
  });

  async function attempt(delivery: Delivery): Promise<RunResult> {
    const { id, agentId } = delivery;
    inFlight.set(id, agentId);
    let recorded = false;
    try {
      const result = await deliverAndRecord(delivery);
      // What ends with the process is not recorded.
      recorded = !stopping.signal.aborted;
      return result;
    } finally {
      inFlight.delete(id);
      recordWaiters.get(id)?.(recorded);
    }
  }

  async function areDeliveriesRecorded(agentId: string, ids: string[]): Promise<boolean> {
    const open = ids.filter((id) => inFlight.get(id) === agentId);
    const older = ids.filter((id) => !inFlight.has(id) && timestampOf(id) < startedAt);
    if (older.length > 0) {
      const { rows } = await database.read(STILL_PENDING, [agentId, JSON.stringify(older)]);
      for (const { id } of rows) open.push(String(id));
    }
    return (await Promise.all(open.map(recorded))).every(Boolean);
  }

  /** Whether what came of a try is written before long. */
  async function recorded(id: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // Whoever asked before is not left waiting for the one who asks now.
    recordWaiters.get(id)?.(false);
    recordWaiters.set(id, resolve);
    const late = setTimeout(resolve, RECORDED_WITHIN, false);
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      if (recordWaiters.get(id) === resolve) recordWaiters.delete(id);
    }
  }

  async function deliverAndRecord(delivery: Delivery): Promise<RunResult> {
    const known = wakeCount;
    const outcome = await deliverOnce(delivery);
    if (outcome.kind === "paused") {
      heldAgents.add(delivery.agentId);
      // It may have come up while it was looked at.
      return known === wakeCount ? "pause" : { retryInMs: 0 };
    }
    if (stopping.signal.aborted && outcome.kind === "retry") return undefined;
    const kept = await record(delivery, outcome);
    if (!kept || outcome.kind !== "retry" || delivery.attempts >= MAX_ATTEMPTS) return undefined;
    const delay = outcome.after ?? Math.min(MAX_DELAY, firstDelay * 2 ** (delivery.attempts - 1));
    return { retryInMs: delay * (1 + Math.random() / 4) };
  }

  async function deliverOnce(delivery: Delivery): Promise<DeliveryOutcome> {
    const deliver = platforms.of(delivery.platform)?.deliver;
    if (!deliver) return { kind: "retry", reason: `Nothing delivers for ${delivery.platform}.` };
    try {
      return await deliver(delivery, (part) => onPartDelivered(delivery, part), stopping.signal);
    } catch (error) {
      log.error("a delivery failed", { agentId: delivery.agentId, error });
      return { kind: "retry", reason: "Berth could not send it." };
    }
  }

  /**
   * Each part is put down as it arrives, so that a kill between two parts repeats neither. The last one goes with what is
   * recorded of the whole, which follows at once.
   */
  function onPartDelivered(delivery: Delivery, part: string): void {
    delivery.parts.push(part);
    const { attempts, parts } = delivery;
    const known = parts.length;
    setImmediate(() => {
      if (delivery.attempts > attempts || parts.length > known) return;
      database
        .write([{ sql: "UPDATE outbox SET parts = ? WHERE id = ?", args: [JSON.stringify(parts), delivery.id] }])
        .catch((error: unknown) => log.error("a delivered part could not be recorded", { error }));
    });
  }

  /** False when the row is gone, with its agent. */
  async function record(delivery: Delivery, outcome: Exclude<DeliveryOutcome, { kind: "paused" }>): Promise<boolean> {
    delivery.attempts++;
    const { id, agentId, attempts } = delivery;
    const parts = JSON.stringify(delivery.parts);
    if (outcome.kind === "sent") {
      const args = [attempts, parts, Date.now(), id];
      const sql = "UPDATE outbox SET status = 'sent', error = NULL, attempts = ?, parts = ?, sent_at = ? WHERE id = ?";
      await database.write([{ sql, args }]);
      return true;
    }
    const failed = outcome.kind === "refused" || attempts >= MAX_ATTEMPTS;
    const args = [failed ? "failed" : "pending", attempts, parts, outcome.reason, id];
    const sql = "UPDATE outbox SET status = ?, attempts = ?, parts = ?, error = ? WHERE id = ?";
    const [changed] = await database.write([{ sql, args }]);
    if (changed?.rowsAffected === 0) return false;
    if (failed) logToOwner(agentId, "error", `A reply was not delivered: ${outcome.reason}`);
    else logToOwner(agentId, "warning", `A reply waits to be delivered again: ${outcome.reason}`);
    return true;
  }

  function enqueueStatement(reply: Omit<Delivery, "id" | "parts" | "attempts">): Statement {
    const delivery: Delivery = { ...reply, id: Bun.randomUUIDv7(), parts: [], attempts: 0 };
    const { parts: _, attempts: __, ...row } = delivery;
    return { ...insert({ ...row, createdAt: Date.now() }), after: () => lanes.push(delivery) };
  }

  return {
    enqueueStatement,

    replyStatements(entry, body) {
      const { id: inboxId, agentId, platform, peer, previewId } = entry;
      if (peer === null || !platform.startsWith("channel_")) return [];
      const replyTo = entry.kind === "reminder" ? null : entry.platformMessageId;
      return [enqueueStatement({ inboxId, agentId, platform, peer, body, replyTo, previewId })];
    },
    areDeliveriesRecorded,

    async start() {
      const rows = await drizzle.selectDistinct({ id: outbox.agentId }).from(outbox).where(isPending);
      for (const { id } of rows) lanes.resume(id);
    },

    resume: lanes.resume,
    wake(agentId) {
      wakeCount++;
      if (heldAgents.delete(agentId)) lanes.resume(agentId);
    },
    drop(agentId) {
      heldAgents.delete(agentId);
      lanes.drop(agentId);
    },
    size: lanes.size,

    async stop() {
      const drained = lanes.drain();
      const grace = setTimeout(() => stopping.abort(new DOMException("Berth is stopping.", "AbortError")), STOP_GRACE);
      await drained;
      clearTimeout(grace);
    },
  };
}

/** Epoch ms: a UUIDv7 begins with its time. */
const timestampOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const STILL_PENDING = `SELECT id FROM outbox
  WHERE agent_id = ?1 AND status = 'pending' AND id IN (SELECT value FROM json_each(?2))`;
