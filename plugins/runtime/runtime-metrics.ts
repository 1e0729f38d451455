// Registers the metrics of messages: turns with their times, and what waits in the inbox and the outbox.
import { channelIds } from "../../channels/registry.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { PENDING_INBOX } from "./inbox/inbox-sql.ts";

export type TurnOutcome = "done" | "failed" | "cancelled";

export interface RuntimeMetrics {
  /** `ms` is the time from the message's arrival, without that in which the turn waited for an approval. */
  turnEnded(outcome: TurnOutcome, ms: number): void;
  /** The first text of a streamed reply; `ms` as above. */
  firstText(ms: number): void;
}

/** A turn takes between a moment, with the demo model, and many minutes, with tools. */
const TURN_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
const FIRST_TEXT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32];

/** So many entries are read at most: beyond that the counts stand still, and the ages say enough. */
const MAX_READ = 10_000;
/** Messages to a stopped agent, and turns that wait for approval, wait for their owner, not for the service. */
export const WAITING_MESSAGES = `SELECT count(*) AS count, min(since) AS since FROM (
  SELECT inbox.received_at + inbox.waited_ms AS since FROM ${PENDING_INBOX} JOIN agents ON agents.id = inbox.agent_id
  WHERE inbox.status = 'pending' AND inbox.suspended IS NOT 1 AND agents.status <> 'stopped' LIMIT ${MAX_READ})`;
/** ?1, ?2: the times before which a reply is of the second and of the third class of age. */
export const WAITING_REPLIES = `SELECT platform, (at <= ?1) + (at <= ?2) AS age, count(*) AS count, min(at) AS since FROM (
  SELECT outbox.platform, outbox.created_at AS at FROM outbox INDEXED BY outbox_pending JOIN agents ON agents.id = outbox.agent_id
  WHERE outbox.status = 'pending' AND agents.status <> 'stopped' LIMIT ${MAX_READ}) GROUP BY 1, 2`;
const AGES = ["under_1m", "under_10m", "over_10m"] as const;

interface Deps extends Pick<Kernel, "database" | "metrics"> {
  /** Entries held in memory. */
  heldMessages: () => number;
  heldReplies: () => number;
}

export function createRuntimeMetrics(
  { database, metrics, heldMessages, heldReplies }: Deps,
  now = Date.now,
): RuntimeMetrics {
  const turns = metrics.counter("berth_turns_total", "Turns that ended, by outcome.", ["outcome"]);
  const times = metrics.histogram(
    "berth_turn_seconds",
    "From the arrival of a message to the end of its turn, by outcome.",
    ["outcome"],
    TURN_SECONDS,
  );
  // From the start, since Prometheus does not see the first step of a series that begins with it.
  const counts = {
    done: turns.labels({ outcome: "done" }),
    failed: turns.labels({ outcome: "failed" }),
    cancelled: turns.labels({ outcome: "cancelled" }),
  };
  const firstText = metrics.histogram(
    "berth_turn_first_token_seconds",
    "From the arrival of a message to the first text of its reply, where replies are streamed.",
    FIRST_TEXT_SECONDS,
  );
  metrics.gauge("berth_inbox_held", "Messages held in memory, waiting or running.", heldMessages);
  metrics.gauge("berth_outbox_held", "Replies held in memory, waiting or being delivered.", heldReplies);

  metrics.measured(
    {
      berth_inbox_waiting: ["Messages that wait for their reply."],
      berth_inbox_oldest_seconds: ["Since when the oldest of them waits."],
      berth_outbox_waiting: ["Replies that are not delivered yet, by how long they wait.", "channel", "age"],
      berth_outbox_oldest_seconds: ["Since when the oldest of them waits.", "channel"],
    },
    async () => {
      const at = now();
      const [messages, replies] = await Promise.all([
        database.readLong(WAITING_MESSAGES),
        database.readLong(WAITING_REPLIES, [at - MINUTE, at - 10 * MINUTE]),
      ]);
      const secondsSince = (time: unknown) => (typeof time === "number" ? Math.max(0, at - time) / 1000 : 0);
      const channels = channelIds().map((channel) => ({
        channel,
        rows: replies.rows.filter(({ platform }) => platform === channel),
      }));
      return {
        berth_inbox_waiting: Number(messages.rows[0]?.count),
        berth_inbox_oldest_seconds: secondsSince(messages.rows[0]?.since),
        berth_outbox_waiting: channels.flatMap(({ channel, rows }) =>
          AGES.map((age, index) => {
            const row = rows.find((found) => Number(found.age) === index);
            return [{ channel, age }, Number(row?.count ?? 0)] as const;
          }),
        ),
        berth_outbox_oldest_seconds: channels.map(
          ({ channel, rows }) => [{ channel }, Math.max(0, ...rows.map(({ since }) => secondsSince(since)))] as const,
        ),
      };
    },
  );

  return {
    turnEnded(outcome, ms) {
      counts[outcome].inc();
      times.labels({ outcome }).observe(ms / 1000);
    },
    firstText: (ms) => firstText.observe(ms / 1000),
  };
}
