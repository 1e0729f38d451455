// Stores pairings: a stranger gets a code, the owner approves it, and from then on the stranger may talk.
import type { Row } from "@libsql/client";
import { and, asc, eq, gt, isNotNull, sql } from "drizzle-orm";
import type { ChannelId, IncomingMessage } from "../../../channels/port.ts";
import { preparedQuery, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { randomCode } from "../../../src/kernel/util/text/random-code.ts";
import { DAY, HOUR } from "../../../src/kernel/util/time.ts";
import { pairings } from "../schema.ts";
import {
  APPROVE,
  APPROVE_PERSON,
  DENY_PERSON,
  INSERT_REQUEST,
  IS_REQUEST_IGNORED,
  MAX_PEOPLE,
  REMOVE,
  SET_OWNER,
  SET_OWNER_TO,
} from "./pairing-queries.ts";

/** How long a code is valid; its sender gets no other code meanwhile. */
const CODE_LIFETIME_MS = HOUR;
/** How long a denied sender gets no other code. */
const DENIAL_LIFETIME_MS = 7 * DAY;
const MAX_CACHED = 10_000;

/** Times are epoch ms. */
export type Pairing = Readonly<typeof pairings.$inferSelect>;

/** How a person is named and reached. */
interface Reached {
  name: string;
  peer: string;
  /** As the platform has named it; null where it does not. */
  language: string | null;
}

export interface Pairings {
  isApproved(agentId: string, channel: ChannelId, senderId: string): Promise<boolean>;
  /** Makes a code for a sender; undefined if they have one already, were denied, or too many wait. */
  requestCode(
    agentId: string,
    channel: ChannelId,
    from: Pick<IncomingMessage, "sender" | "language" | "peer">,
  ): Promise<string | undefined>;
  /** Removes a code that could not be sent. */
  withdrawCode(agentId: string, channel: ChannelId, senderId: string): Promise<void>;
  /**
   * Approves the sender of a code; undefined if the code is unknown or expired. `asOwner` also makes the sender the owner
   * of the agent's bot on this channel, in place of an earlier one. The caller reopens the connection.
   */
  approve(
    agentId: string,
    channel: ChannelId,
    code: string,
    asOwner: boolean,
  ): Promise<(Reached & { senderId: string }) | undefined>;
  /**
   * Approves a person by their id, also without a request of theirs, under this name. `hasWaited`: they asked, and have not been
   * told. 409 `TOO_MANY_PEOPLE` beyond the limit of people of a channel.
   */
  approvePerson(
    agentId: string,
    channel: ChannelId,
    person: { senderId: string; name: string | undefined },
    asOwner: boolean,
  ): Promise<Reached & { hasWaited: boolean }>;
  /** Denies a person who asked or was approved; undefined if there is none. They get no other code for a week. */
  denyPerson(agentId: string, channel: ChannelId, senderId: string): Promise<{ name: string } | undefined>;
  /** The senders who wait for approval, on one channel or all, and with this code if one is given. */
  listPending(agentId: string, channel: ChannelId | undefined, code?: string): Promise<Pairing[]>;
  /** Approves a waiting sender; `then` runs after the write if that succeeded. */
  approveStatement(pairing: Pairing, then: () => void): Statement;
  /** Denies a waiting sender, who gets no other code for a week; `then` as for `approveStatement`. */
  denyStatement(pairing: Pairing, then: () => void): Statement;
  /** A page of the approved, waiting and denied senders, in the order in which they first wrote, and the number of all. */
  list(
    agentId: string,
    channel: ChannelId,
    page: { limit: number; offset: number },
  ): Promise<{ pairings: Pairing[]; total: number }>;
  /** Removes a pairing or request; undefined if there was none. */
  remove(agentId: string, channel: ChannelId, senderId: string): Promise<{ name: string } | undefined>;
  /** Forgets cached approvals, after a disconnect has deleted the pairings. */
  clearCache(agentId: string): void;
}

export function createPairings({ database }: Pick<Kernel, "database">): Pairings {
  const db = database.drizzle;
  const placeholder = (name: string) => sql.placeholder(name);
  /** Recently seen approved senders, by agent. */
  const approved = new Map<string, Set<string>>();
  let cachedCount = 0;
  /** Counts withdrawn permissions: an approval that was read before one is not cached. */
  let invalidations = 0;
  const one = (agentId: string, channel: ChannelId, senderId: string) =>
    and(eq(pairings.agentId, agentId), eq(pairings.channel, channel), eq(pairings.senderId, senderId));
  const selectApproved = preparedQuery(() =>
    db
      .select({ at: pairings.approvedAt })
      .from(pairings)
      .where(
        and(
          eq(pairings.agentId, placeholder("agentId")),
          eq(pairings.channel, placeholder("channel")),
          eq(pairings.senderId, placeholder("senderId")),
        ),
      ),
  );

  function clearCache(agentId: string): void {
    invalidations++;
    approved.delete(agentId);
  }

  function cacheApproval(agentId: string, sender: string): void {
    if (cachedCount >= MAX_CACHED) {
      approved.clear();
      cachedCount = 0;
    }
    const senders = approved.get(agentId) ?? new Set();
    approved.set(agentId, senders.add(sender));
    cachedCount++;
  }

  return {
    async isApproved(agentId, channel, senderId) {
      const sender = `${channel} ${senderId}`;
      if (approved.get(agentId)?.has(sender)) return true;
      const before = invalidations;
      const [row] = await selectApproved.execute({ agentId, channel, senderId });
      if (typeof row?.at !== "number") return false;
      if (before === invalidations) cacheApproval(agentId, sender);
      return true;
    },

    async requestCode(agentId, channel, { sender, language = null, peer }) {
      const now = Date.now();
      // Strangers who get no answer cost no write.
      const { rows } = await database.read(IS_REQUEST_IGNORED, [agentId, channel, sender.id, now]);
      if (rows[0]?.ignored === 1) return undefined;
      const code = randomCode(CODE_LENGTH);
      const [, inserted] = await database.write([
        {
          sql: "DELETE FROM pairings WHERE agent_id = ? AND channel = ? AND approved_at IS NULL AND expires_at <= ?",
          args: [agentId, channel, now],
        },
        {
          sql: INSERT_REQUEST,
          args: [
            ...[agentId, channel, sender.id, sender.name.slice(0, 200), peer, code],
            ...[now + CODE_LIFETIME_MS, now, language],
          ],
        },
      ]);
      return (inserted?.rowsAffected ?? 0) > 0 ? code : undefined;
    },

    async withdrawCode(agentId, channel, senderId) {
      const waiting = sql`${one(agentId, channel, senderId)} AND approved_at IS NULL`;
      await database.write([statement(db.delete(pairings).where(waiting))]);
    },

    async approve(agentId, channel, code, asOwner) {
      const args = [Date.now(), agentId, channel, code.trim().toUpperCase()];
      // The approval consumes the code, so the owner is set before it.
      const results = await database.write([...(asOwner ? [{ sql: SET_OWNER, args }] : []), { sql: APPROVE, args }]);
      const row = results.at(-1)?.rows[0];
      return row && { senderId: String(row.sender_id), ...toReached(row) };
    },

    async approvePerson(agentId, channel, { senderId, name }, asOwner) {
      const [earlier] = await db
        .select()
        .from(pairings)
        .where(one(agentId, channel, senderId));
      const results = await database.write([
        { sql: APPROVE_PERSON, args: [agentId, channel, senderId, name?.slice(0, 200) ?? "", Date.now()] },
        ...(asOwner ? [{ sql: SET_OWNER_TO, args: [senderId, agentId, channel] }] : []),
      ]);
      const row = results[0]?.rows[0];
      if (!row) {
        const text = `A channel has at most ${MAX_PEOPLE} people on its list. Remove some, or open it for everybody.`;
        throw new AppError(409, "TOO_MANY_PEOPLE", text, { limit: MAX_PEOPLE });
      }
      const hasWaited = earlier !== undefined && earlier.approvedAt === null && earlier.peer !== "";
      return { ...toReached(row), hasWaited };
    },

    async denyPerson(agentId, channel, senderId) {
      const until = Date.now() + DENIAL_LIFETIME_MS;
      const [result] = await database.write([
        { sql: DENY_PERSON, args: [until, agentId, channel, senderId], after: () => clearCache(agentId) },
      ]);
      const row = result?.rows[0];
      return row && { name: String(row.sender_name) };
    },

    listPending(agentId, channel, code) {
      const conditions = [eq(pairings.agentId, agentId), gt(pairings.expiresAt, Date.now()), isNotNull(pairings.code)];
      if (channel !== undefined) conditions.push(eq(pairings.channel, channel));
      if (code !== undefined) conditions.push(eq(pairings.code, code.trim().toUpperCase()));
      return db
        .select()
        .from(pairings)
        .where(and(...conditions))
        .orderBy(asc(pairings.createdAt));
    },

    approveStatement: ({ agentId, channel, code }, then) => ({
      sql: `UPDATE pairings SET approved_at = ?1, code = NULL, expires_at = NULL
        WHERE agent_id = ?2 AND channel = ?3 AND code = ?4`,
      args: [Date.now(), agentId, channel, code],
      after: ({ rowsAffected }) => {
        if (rowsAffected > 0) then();
      },
    }),

    denyStatement: ({ agentId, channel, code }, then) => ({
      sql: "UPDATE pairings SET code = NULL, expires_at = ?1 WHERE agent_id = ?2 AND channel = ?3 AND code = ?4",
      args: [Date.now() + DENIAL_LIFETIME_MS, agentId, channel, code],
      after: ({ rowsAffected }) => {
        if (rowsAffected > 0) then();
      },
    }),

    async list(agentId, channel, { limit, offset }) {
      const isCurrent = and(
        eq(pairings.agentId, agentId),
        eq(pairings.channel, channel),
        sql`(approved_at IS NOT NULL OR expires_at > ${Date.now()})`,
      );
      const order = [asc(pairings.createdAt), asc(pairings.senderId)] as const;
      const [found, total] = await Promise.all([
        db
          .select()
          .from(pairings)
          .where(isCurrent)
          .orderBy(...order)
          .limit(limit)
          .offset(offset),
        db.$count(pairings, isCurrent),
      ]);
      return { pairings: found, total };
    },

    async remove(agentId, channel, senderId) {
      const [result] = await database.write([
        { sql: REMOVE, args: [agentId, channel, senderId], after: () => clearCache(agentId) },
      ]);
      const row = result?.rows[0];
      return row && { name: String(row.sender_name) };
    },

    clearCache,
  };
}

/** About 30 bits: enough, because only the owner can try codes, and each is valid for an hour. */
const CODE_LENGTH = 6;

const toReached = ({ sender_name, peer, language }: Row): Reached => ({
  ...{ name: String(sender_name), peer: String(peer) },
  language: language === null || language === undefined ? null : String(language),
});
