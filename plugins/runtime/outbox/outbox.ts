// Delivers replies from the outbox table, each conversation in order, and retries them until the platform accepts or refuses.
import { and, asc, eq, sql } from "drizzle-orm";
import type { Choice } from "../../../channels/port.ts";
import { isChannelId } from "../../../channels/registry.ts";
import { preparedQuery, type Statement, statementTemplate } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { HOUR, SECOND } from "../../../src/kernel/util/time.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import { createLanes, LANE_LIMITS, type RunResult } from "../lanes/lanes.ts";
import type { Delivery, DeliveryFile, DeliveryOutcome, Platforms } from "../platforms.ts";
import { outbox } from "../schema.ts";

/** Deliveries at once; the limit for one agent keeps a slow platform from taking all of them. */
const LIMITS = { ...LANE_LIMITS, perAgent: 16, inFlight: 256 };
/** Tries before a reply is given up; with the delays below that is about a day. */
export const MAX_DELIVERY_ATTEMPTS = 40;
const FIRST_DELAY = 500;
const MAX_DELAY = HOUR;
/** How long `areDeliveriesRecorded` waits for a record. */
const RECORD_TIMEOUT = 3 * SECOND;

/** Literal text, since with a bound value SQLite can't tell that the partial index covers the query. */
const isPending = sql`${outbox.status} = 'pending'`;

export interface Outbox {
  /** Enqueues a reply, in the batch that settles its turn; delivery begins once that is committed. */
  enqueueStatement(reply: Omit<Delivery, "id" | "parts" | "attempts">): Statement;
  /** The statement that enqueues the reply to an entry from a channel; none for other entries, whose callers wait for it. */
  replyStatements(entry: InboxEntry, body: string, more?: Pick<Delivery, "choices" | "files">): Statement[];
  /**
   * Whether the outcomes of these replies of an agent are recorded. Waits up to 3 s for sends in flight and for the
   * retries of replies that an earlier process left; false if that takes longer.
   */
  areDeliveriesRecorded(agentId: string, ids: string[]): Promise<boolean>;
  /** Resolves when the outcomes of what is being sent for these agents are recorded, or after 3 s. */
  untilRecorded(agentIds: readonly string[]): Promise<void>;
  /** Takes up the replies that were pending when the process ended. */
  start(): Promise<void>;
  /** Takes up the pending replies of this agent. */
  resume(agentId: string): void;
  /** Takes up all pending replies that are not in memory. */
  resumeAll(): Promise<void>;
  /** Resumes the agent if a delivery of it was paused. */
  wake(agentId: string): void;
  /** Forgets the replies of a deleted agent. */
  drop(agentId: string): void;
  /** Replies in memory, waiting or in flight. */
  size(): number;
  /** Stops delivering; replies that have not arrived after the grace (ms) stay pending for the next start. */
  stop(graceMs: number): Promise<void>;
}

interface Deps extends Pick<Kernel, "database" | "log"> {
  traces?: Kernel["traces"];
  /** The hooks that plugins/channels registers (`createPlatformHooks` in delivery/reply-delivery.ts). */
  platforms: Pick<Platforms, "of">;
  /** Writes a line for the owner into the agent's log. */
  logToOwner(agentId: string, level: "warning" | "error", message: string): void;
  /** Returns statements for the write that gives a reply up. */
  onGivenUp(delivery: Delivery, reason: string): Promise<Statement[]>;
  /** Milliseconds before the second try; it doubles from then on. */
  firstDelay?: number;
}

export function createOutbox(deps: Deps): Outbox {
  const { database, log, traces, platforms, logToOwner, onGivenUp, firstDelay = FIRST_DELAY } = deps;
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
      choices: placeholder("choices"),
      files: placeholder("files"),
      parts: "[]",
      status: "pending",
      attempts: 0,
      createdAt: placeholder("createdAt"),
    }),
  );
  const selectPending = preparedQuery(() =>
    drizzle
      .select({
        id: outbox.id,
        inboxId: outbox.inboxId,
        agentId: outbox.agentId,
        platform: outbox.platform,
        peer: outbox.peer,
        body: outbox.body,
        replyTo: outbox.replyTo,
        previewId: outbox.previewId,
        choices: outbox.choices,
        files: outbox.files,
        parts: outbox.parts,
        attempts: outbox.attempts,
      })
      .from(outbox)
      .where(and(isPending, eq(outbox.agentId, placeholder("agentId"))))
      .orderBy(asc(outbox.id))
      .limit(placeholder("limit")),
  );
  const stopping = new AbortController();
  /** Smaller ids are those of an earlier process: UUIDv7 grow, also within a millisecond. */
  const firstId = Bun.randomUUIDv7();
  /** Agents by the id of the reply that is being tried, and the callers that wait until its outcome is recorded. */
  const inFlight = new Map<string, string>();
  const recordWaiters = new Map<string, (recorded: boolean) => void>();
  /** Agents with a paused delivery. */
  const pausedAgents = new Set<string>();
  let wakeCount = 0;

  const lanes = createLanes<Delivery>({
    run: attempt,
    async load(agentId, limit) {
      const rows = await selectPending.execute({ agentId, limit });
      // Our own JSON, of `enqueueStatement`.
      return rows.map(({ choices, files, ...row }) => ({
        ...row,
        ...(choices !== null && { choices: JSON.parse(choices) as Choice[] }),
        ...(files !== null && { files: JSON.parse(files) as DeliveryFile[] }),
        parts: JSON.parse(row.parts) as string[],
        // An earlier process may have sent it and ended before recording that: this counts as a try.
        attempts: row.id < firstId ? Math.max(row.attempts, 1) : row.attempts,
      }));
    },
    laneOf: ({ platform, peer }) => `${platform} ${peer}`,
    // A delivery never rejects, so this is an error of our own storage.
    onError: (error) => log.error("the outbox could not be read or written", { error }),
    limits: LIMITS,
  });

  async function attempt(delivery: Delivery): Promise<RunResult> {
    const { id, agentId } = delivery;
    inFlight.set(id, agentId);
    let recorded = false;
    try {
      const result = await deliverAndRecord(delivery);
      // The outcome of a try that the shutdown aborted is not recorded.
      recorded = !stopping.signal.aborted;
      return result;
    } finally {
      inFlight.delete(id);
      recordWaiters.get(id)?.(recorded);
    }
  }

  async function areDeliveriesRecorded(agentId: string, ids: string[]): Promise<boolean> {
    const open = ids.filter((id) => inFlight.get(id) === agentId);
    const older = ids.filter((id) => !inFlight.has(id) && id < firstId);
    if (older.length > 0) {
      const { rows } = await database.read(STILL_PENDING, [agentId, JSON.stringify(older)]);
      for (const { id } of rows) open.push(String(id));
    }
    return (await Promise.all(open.map(recorded))).every(Boolean);
  }

  /** Whether the outcome of a reply's try is recorded within the time limit. */
  async function recorded(id: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // The map holds one waiter for each reply: an earlier caller gets its answer now.
    recordWaiters.get(id)?.(false);
    recordWaiters.set(id, resolve);
    const timer = setTimeout(resolve, RECORD_TIMEOUT, false);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      if (recordWaiters.get(id) === resolve) recordWaiters.delete(id);
    }
  }

  async function deliverAndRecord(delivery: Delivery): Promise<RunResult> {
    const wakesBefore = wakeCount;
    const endSpan = traces && (await import("../turn-spans.ts")).beginDeliverySpan(traces, delivery);
    const outcome = await deliverOnce(delivery);
    endSpan?.(outcome.kind);
    if (outcome.kind === "paused") {
      pausedAgents.add(delivery.agentId);
      // The agent may have been started during the try.
      return wakesBefore === wakeCount ? "pause" : { retryInMs: 0 };
    }
    if (stopping.signal.aborted && outcome.kind === "retry") return undefined;
    const isRecorded = await record(delivery, outcome);
    if (!isRecorded || outcome.kind !== "retry" || delivery.attempts >= MAX_DELIVERY_ATTEMPTS) return undefined;
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
   * Stores each part as it arrives, so that after a kill between two parts neither is sent again. The last part is stored
   * with the outcome of the whole delivery, which follows at once.
   */
  function onPartDelivered(delivery: Delivery, part: string): void {
    delivery.parts.push(part);
    const { attempts, parts } = delivery;
    const count = parts.length;
    setImmediate(() => {
      if (delivery.attempts > attempts || parts.length > count) return;
      database
        .write([{ sql: "UPDATE outbox SET parts = ? WHERE id = ?", args: [JSON.stringify(parts), delivery.id] }])
        .catch((error: unknown) => log.error("a delivered part could not be recorded", { error }));
    });
  }

  /** Records the outcome of a try; false when the row was deleted with its agent. */
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
    const failed = outcome.kind === "refused" || attempts >= MAX_DELIVERY_ATTEMPTS;
    const args = [failed ? "failed" : "pending", attempts, parts, outcome.reason, id];
    const sql = "UPDATE outbox SET status = ?, attempts = ?, parts = ?, error = ? WHERE id = ?";
    const more = failed ? await onGivenUp(delivery, outcome.reason) : [];
    const [changed] = await database.write([{ sql, args }, ...more]);
    if (changed?.rowsAffected === 0) return false;
    if (failed) logToOwner(agentId, "error", `A reply was not delivered: ${outcome.reason}`);
    else logToOwner(agentId, "warning", `Delivery of a reply failed and will be retried: ${outcome.reason}`);
    return true;
  }

  async function agentsWithPending(): Promise<string[]> {
    const rows = await drizzle.selectDistinct({ id: outbox.agentId }).from(outbox).where(isPending);
    return rows.map(({ id }) => id);
  }

  function enqueueStatement(reply: Omit<Delivery, "id" | "parts" | "attempts">): Statement {
    const delivery: Delivery = { ...reply, id: Bun.randomUUIDv7(), parts: [], attempts: 0 };
    const { parts: _, attempts: __, choices, files, ...row } = delivery;
    const lists = { choices: choices ? JSON.stringify(choices) : null, files: files ? JSON.stringify(files) : null };
    return { ...insert({ ...row, ...lists, createdAt: Date.now() }), after: () => lanes.push(delivery) };
  }

  return {
    enqueueStatement,

    replyStatements(entry, body, { choices, files = [] } = {}) {
      const { id: inboxId, agentId, platform, peer, previewId } = entry;
      if (peer === null || !isChannelId(platform)) return [];
      const replyTo = entry.kind === "reminder" ? null : entry.platformMessageId;
      const lists = { ...(choices && { choices }), ...(files.length > 0 && { files }) };
      return [enqueueStatement({ inboxId, agentId, platform, peer, body, replyTo, previewId, ...lists })];
    },
    areDeliveriesRecorded,

    async untilRecorded(agentIds) {
      const sending = [...inFlight].filter(([, agentId]) => agentIds.includes(agentId));
      await Promise.all(sending.map(([id]) => recorded(id)));
    },

    async start() {
      const agentIds = await agentsWithPending();
      if (agentIds.length > 0) await database.write([{ sql: DROP_NOTICES, args: [] }]);
      for (const id of agentIds) lanes.resume(id);
    },
    async resumeAll() {
      for (const id of await agentsWithPending()) lanes.resume(id);
    },

    resume: lanes.resume,
    wake(agentId) {
      wakeCount++;
      if (pausedAgents.delete(agentId)) lanes.resume(agentId);
    },
    drop(agentId) {
      pausedAgents.delete(agentId);
      lanes.drop(agentId);
    },
    size: lanes.size,

    async stop(graceMs) {
      const drained = lanes.drain();
      const end = () => stopping.abort(new DOMException("Berth is stopping.", "AbortError"));
      const grace = setTimeout(end, graceMs);
      await drained;
      clearTimeout(grace);
    },
  };
}

/**
 * Ends the notices to people whose message is still pending (`slow-replies.ts`): a notice that was in flight when the process
 * ended is dropped rather than sent twice, but for a question to the owner, for which a turn waits. A reply is never among them, since it is inserted when its message is settled.
 */
const DROP_NOTICES = `UPDATE outbox SET status = 'failed', error = 'Berth ended while it was sent.' WHERE status = 'pending'
  AND EXISTS (SELECT 1 FROM inbox WHERE agent_id = outbox.agent_id AND id = outbox.inbox_id AND inbox.status = 'pending'
    AND inbox.suspended IS NULL)`;

const STILL_PENDING = `SELECT id FROM outbox
  WHERE agent_id = ?1 AND status = 'pending' AND id IN (SELECT value FROM json_each(?2))`;
