// Pairing: a stranger gets a code, the owner approves it, and from then on they may talk.
import { and, asc, eq, gt, isNotNull, sql } from "drizzle-orm";
import type { ChannelId, IncomingMessage } from "../../../channels/port.ts";
import { type Statement, statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { pairings } from "../schema.ts";

/** A code is good for so long, and nobody is told another one meanwhile. */
const CODE_LIFETIME_MS = 3_600_000;
/** Who was refused is told no other code for so long. */
const DENIAL_LIFETIME_MS = 7 * 86_400_000;
/** People of one channel who may wait for approval at once; a crowd of strangers gets no answer. */
const MAX_PENDING = 100;
const MAX_CACHED = 10_000;

/** Times are epoch ms. */
export type Pairing = Readonly<typeof pairings.$inferSelect>;

export interface Pairings {
  isApproved(agentId: string, channel: ChannelId, senderId: string): Promise<boolean>;
  /** A code for this sender; undefined when they have one already, or too many wait. */
  requestCode(
    agentId: string,
    channel: ChannelId,
    from: Pick<IncomingMessage, "sender" | "peer">,
  ): Promise<string | undefined>;
  /** The sender never got to see the code. */
  withdrawCode(agentId: string, channel: ChannelId, senderId: string): Promise<void>;
  /** Approves whoever was told this code; undefined when nobody was, or too long ago. */
  approve(agentId: string, channel: ChannelId, code: string): Promise<{ senderId: string; peer: string } | undefined>;
  /** Whoever was told this code, on any of the agent's channels unless one is named, and waits. */
  listPending(agentId: string, channel: ChannelId | undefined, code?: string): Promise<Pairing[]>;
  /** For a batch: lets one who waits in; `then` runs where they did not wait in vain. */
  approveStatement(pairing: Pairing, then: () => void): Statement;
  /** For a batch: refuses one who waits, who is told no other code for a week. */
  denyStatement(pairing: Pairing): Statement;
  /** Approved ones, and those that wait. */
  list(agentId: string, channel: ChannelId): Promise<Pairing[]>;
  /** False when there was none. */
  remove(agentId: string, channel: ChannelId, senderId: string): Promise<boolean>;
  /** The channel was disconnected, and its pairings with it. */
  clearCache(agentId: string): void;
}

export function createPairings({ database }: Pick<Kernel, "database">): Pairings {
  const db = database.drizzle;
  const placeholder = (name: string) => sql.placeholder(name);
  /** Approved senders seen lately, by agent. */
  const approved = new Map<string, Set<string>>();
  let cachedCount = 0;
  /** Grows when somebody may not talk any more: what was read before says nothing then. */
  let invalidations = 0;
  const one = (agentId: string, channel: ChannelId, senderId: string) =>
    and(eq(pairings.agentId, agentId), eq(pairings.channel, channel), eq(pairings.senderId, senderId));
  const selectApproved = db
    .select({ at: pairings.approvedAt })
    .from(pairings)
    .where(
      and(
        eq(pairings.agentId, placeholder("agentId")),
        eq(pairings.channel, placeholder("channel")),
        eq(pairings.senderId, placeholder("senderId")),
      ),
    )
    .prepare();

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

    async requestCode(agentId, channel, { sender, peer }) {
      const now = Date.now();
      // A crowd that gets no answer costs no write.
      const { rows } = await database.read(IS_REQUEST_IGNORED, [agentId, channel, sender.id, now]);
      if (rows[0]?.vain === 1) return undefined;
      const code = newCode();
      const [, inserted] = await database.write([
        {
          sql: "DELETE FROM pairings WHERE agent_id = ? AND channel = ? AND approved_at IS NULL AND expires_at <= ?",
          args: [agentId, channel, now],
        },
        {
          sql: `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, code, expires_at, created_at)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
            WHERE (SELECT count(*) FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND code IS NOT NULL) < ${MAX_PENDING}
            ON CONFLICT DO NOTHING`,
          args: [agentId, channel, sender.id, sender.name.slice(0, 200), peer, code, now + CODE_LIFETIME_MS, now],
        },
      ]);
      return (inserted?.rowsAffected ?? 0) > 0 ? code : undefined;
    },

    async withdrawCode(agentId, channel, senderId) {
      const waiting = sql`${one(agentId, channel, senderId)} AND approved_at IS NULL`;
      await database.write([statement(db.delete(pairings).where(waiting))]);
    },

    async approve(agentId, channel, code) {
      const now = Date.now();
      const [result] = await database.write([
        {
          sql: `UPDATE pairings SET approved_at = ?1, code = NULL, expires_at = NULL
            WHERE agent_id = ?2 AND channel = ?3 AND code = ?4 AND expires_at > ?1 RETURNING sender_id, peer`,
          args: [now, agentId, channel, code.trim().toUpperCase()],
        },
      ]);
      const row = result?.rows[0];
      return row && { senderId: String(row.sender_id), peer: String(row.peer) };
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

    denyStatement: ({ agentId, channel, code }) => ({
      sql: "UPDATE pairings SET code = NULL, expires_at = ?1 WHERE agent_id = ?2 AND channel = ?3 AND code = ?4",
      args: [Date.now() + DENIAL_LIFETIME_MS, agentId, channel, code],
    }),

    list: (agentId, channel) =>
      db
        .select()
        .from(pairings)
        .where(
          and(
            eq(pairings.agentId, agentId),
            eq(pairings.channel, channel),
            sql`(approved_at IS NOT NULL OR expires_at > ${Date.now()})`,
          ),
        )
        .orderBy(asc(pairings.createdAt)),

    async remove(agentId, channel, senderId) {
      const removal = statement(db.delete(pairings).where(one(agentId, channel, senderId)));
      const [result] = await database.write([{ ...removal, after: () => clearCache(agentId) }]);
      return (result?.rowsAffected ?? 0) > 0;
    },

    clearCache,
  };
}

/** Whether one who asks is told nothing: known, told a code already, or refused, or too many wait. ?4: now. */
const IS_REQUEST_IGNORED = `SELECT EXISTS (SELECT 1 FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND sender_id = ?3
    AND (approved_at IS NOT NULL OR expires_at > ?4))
  OR (SELECT count(*) FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND code IS NOT NULL AND expires_at > ?4) >= ${MAX_PENDING}
  AS vain`;

/** Letters and digits without those that look alike. */
const ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 6;

/** Six characters, about 30 bits: only the owner can try them, and each is good for an hour. */
function newCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CODE_LENGTH));
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}
