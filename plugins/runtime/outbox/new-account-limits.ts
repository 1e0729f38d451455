// Limits how many messages the agents of a new account answer on channels in a day (UTC), as NEW_ACCOUNT_DAYS says.
import { isChannelId } from "../../../channels/registry.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { DAY, firstIdAt } from "../../../src/kernel/util/time.ts";
import type { Agent } from "../../agents/index.ts";
import { type auth, rampAdvice } from "../../auth/index.ts";
import type { InboxEntry } from "../inbox/entries.ts";

/** Accounts that are counted in memory; the one that was counted first goes first. */
const MAX_COUNTED = 10_000;

/** Messages that the agents of account ?1 have answered on channels since the id ?2. */
const ANSWERED = `SELECT count(*) AS count FROM inbox WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1)
  AND id >= ?2 AND platform LIKE 'channel\\_%' ESCAPE '\\' AND kind <> 'command' AND status = 'done'`;

interface Counter {
  count: number;
}

interface Deps extends Pick<Kernel, "database"> {
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  administration: Pick<ServiceOf<typeof auth>["administration"], "isAdmin" | "rampOf">;
  /** Messages a day with the whole share. */
  perDay: number;
  /** Epoch ms. */
  now?: () => number;
}

export function createNewAccountLimits({ database, users, administration, perDay, now = Date.now }: Deps) {
  const counters = new Map<string, { day: number; counter: Promise<Counter> }>();

  async function readCounter(userId: string, day: number): Promise<Counter> {
    const { rows } = await database.read(ANSWERED, [userId, firstIdAt(day * DAY)]);
    return { count: Number(rows[0]?.count) };
  }

  function counterOf(userId: string, day: number): Promise<Counter> {
    const known = counters.get(userId);
    if (known?.day === day) return known.counter;
    if (!known && counters.size >= MAX_COUNTED) counters.delete(counters.keys().next().value ?? "");
    const counter = readCounter(userId, day);
    counters.set(userId, { day, counter });
    // A failed read is repeated by the next message.
    counter.catch(() => counters.delete(userId));
    return counter;
  }

  return {
    /** Counts a message that is about to be answered. Throws 429 `NEW_ACCOUNT_LIMIT` if the account has had its share of today. */
    async take({ userId }: Pick<Agent, "userId">, { platform, attempts }: InboxEntry): Promise<void> {
      // A message is counted at its first try.
      if (!isChannelId(platform) || attempts > 0) return;
      const user = await users.byId(userId);
      const ramp = user && !administration.isAdmin(user) ? administration.rampOf(user) : undefined;
      if (!ramp) return;
      const limit = Math.ceil(perDay * ramp.share);
      const day = Math.floor(now() / DAY);
      const counter = await counterOf(userId, day);
      if (counter.count >= limit) throw limitReached(limit, rampAdvice(ramp));
      counter.count++;
    },
  };
}

export type NewAccountLimits = ReturnType<typeof createNewAccountLimits>;

const limitReached = (limit: number, advice: string) =>
  new AppError(
    429,
    "NEW_ACCOUNT_LIMIT",
    `The agents of this account have answered their ${limit} ${limit === 1 ? "message" : "messages"} on channels for today. ${advice}`,
    { limit },
  );
