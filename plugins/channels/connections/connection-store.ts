// Stores which bot an agent has on which platform. The token itself is a credential of the agent.
import type { Row } from "@libsql/client";
import { and, asc, eq, gt, inArray, isNull, notInArray, or, sql } from "drizzle-orm";
import type { BotIdentity, ChannelId } from "../../../channels/port.ts";
import { isChannelId } from "../../../channels/registry.ts";
import { NameTaken } from "../../../src/kernel/cells/cells.ts";
import { isUniqueViolation, preparedQuery, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { connections } from "../schema.ts";

/** One row. Times are epoch ms; `callbackSecret` is sealed. */
export type Connection = Readonly<typeof connections.$inferSelect>;

export interface ConnectionStore {
  /** The agent's connections, ordered by channel. */
  list(agentId: string): Promise<Connection[]>;
  /** The connections of these agents, ordered by agent and channel. */
  listOfAgents(agentIds: readonly string[]): Promise<Connection[]>;
  find(agentId: string, channel: ChannelId): Promise<Connection | undefined>;
  findByCallback(callbackId: string): Promise<Connection | undefined>;
  /**
   * Sets the agent's bot on a channel, with a new callback that no platform knows yet. Without `ownerId` the earlier owner
   * stays. Pass the error of a failed batch to `toInUseError`.
   */
  putStatement(agentId: string, channel: ChannelId, bot: BotIdentity, token: string, ownerId?: string): Statement;
  /** 409 `CHANNEL_IN_USE` if the batch failed because one of these bots serves another agent, else the error itself. */
  toInUseError(error: unknown, bots: readonly { channel: ChannelId; bot: BotIdentity }[]): Promise<unknown>;
  /** The agents that have some of these bots and no others, with exactly these tokens. */
  findAgentsByTokens(given: readonly { channel: ChannelId; bot: BotIdentity; token: string }[]): Promise<string[]>;
  /** Sets or removes the owner of a bot. */
  ownerStatement(agentId: string, channel: ChannelId, ownerId: string | null): Statement;
  /** The agent that a bot serves. */
  findAgentByBot(channel: ChannelId, botId: string): Promise<string | undefined>;
  /** Deletes a connection, with `more` in the same batch; false if there was none. */
  remove(agentId: string, channel: ChannelId, more?: readonly Statement[]): Promise<boolean>;
  /** Records the address that is registered with the platform, or null, for the connection with this callback. */
  setRegistration(callbackId: string, base: string | null, at: number | null): Promise<void>;
  /** Pages by agent id through agents with a connection on `channels` that is not registered at any of `bases`. */
  listUnregisteredAgents(after: string, channels: ChannelId[], bases: string[], limit: number): Promise<string[]>;
  /** Saves the resume points of many connections, by callback. */
  saveResumePoints(resumes: ReadonlyMap<string, string>): Promise<void>;
  unsealSecret(connection: Connection): string;
}

/** A digest by which tokens are compared. Tokens are long and random, so a plain digest reveals nothing. */
export const digestToken = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("base64url");

const randomToken = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url");
const sealContextOf = (callbackId: string) => `channel-callback:${callbackId}`;

const AGENTS_BY_TOKENS = `WITH given AS (SELECT value ->> 'channel' AS channel, value ->> 'bot' AS bot, value ->> 'digest' AS digest
    FROM json_each(?1))
  SELECT agent_id FROM channel_connections AS c LEFT JOIN given AS g
    ON g.channel = c.channel AND g.bot = c.bot_id AND g.digest = c.token_digest
  WHERE agent_id IN (SELECT agent_id FROM channel_connections JOIN given ON bot_id = bot AND channel_connections.channel = given.channel)
  GROUP BY agent_id HAVING count(g.bot) = count(*) ORDER BY agent_id`;

type Deps = Pick<Kernel, "database" | "vault" | "keyRotation" | "marks">;

export function createConnectionStore({ database, vault, keyRotation, marks }: Deps): ConnectionStore {
  const place = ({ callback_id }: Row) => sealContextOf(String(callback_id));
  const where = { table: "channel_connections", keyColumns: ["callback_id"], sealed: "callback_secret" };
  keyRotation.registerColumn({ label: "channels", ...where, sealContext: place });
  const db = database.drizzle;
  const { agentId: agentColumn, channel: channelColumn, registeredBase } = connections;
  const placeholder = (name: string) => sql.placeholder(name);
  const selectOf = preparedQuery(() =>
    db
      .select()
      .from(connections)
      .where(eq(agentColumn, placeholder("agentId")))
      .orderBy(asc(channelColumn)),
  );
  const selectByCallback = preparedQuery(() =>
    db
      .select()
      .from(connections)
      .where(eq(connections.callbackId, placeholder("callbackId"))),
  );

  // Rows of a channel that this build does not have stay in the table, unused.
  const list = async (agentId: string) =>
    (await selectOf.execute({ agentId })).filter(({ channel }) => isChannelId(channel));

  const putStatement: ConnectionStore["putStatement"] = (agentId, channel, bot, token, ownerId) => {
    const callbackId = marks.token(randomToken(24));
    const row = {
      botId: bot.id,
      botUsername: bot.username,
      detail: bot.detail ?? null,
      tokenDigest: digestToken(token),
      callbackId,
      callbackSecret: vault.seal(randomToken(32), sealContextOf(callbackId)),
      registeredBase: null,
      registeredAt: null,
      resume: null,
      createdAt: Date.now(),
      ...(ownerId === undefined ? {} : { ownerId }),
    };
    const insert = db.insert(connections).values({ agentId, channel, ...row });
    return statement(insert.onConflictDoUpdate({ target: [agentColumn, channelColumn], set: row }));
  };

  const toInUseError: ConnectionStore["toInUseError"] = async (error, bots) => {
    if (!isUniqueViolation(error, "channel_connections.bot_id") && !(error instanceof NameTaken)) return error;
    const one = ({ channel, bot }: (typeof bots)[number]) =>
      and(eq(channelColumn, channel), eq(connections.botId, bot.id));
    const taken = await db
      .select({ name: connections.botUsername })
      .from(connections)
      .where(or(...bots.map(one)));
    const name = taken[0]?.name ?? bots[0]?.bot.username;
    const text = `The bot @${name} already serves another agent. Disconnect it there, or use another bot.`;
    return new AppError(409, "CHANNEL_IN_USE", text, {}, { cause: error });
  };

  return {
    list,
    listOfAgents: async (agentIds) => {
      const isOfThem = sql`${agentColumn} IN (SELECT value FROM json_each(${JSON.stringify(agentIds)}))`;
      const rows = await db.select().from(connections).where(isOfThem).orderBy(asc(agentColumn), asc(channelColumn));
      return rows.filter(({ channel }) => isChannelId(channel));
    },
    find: async (agentId, channel) => (await list(agentId)).find((row) => row.channel === channel),
    findByCallback: async (callbackId) => (await selectByCallback.execute({ callbackId }))[0],

    putStatement,
    toInUseError,

    async findAgentsByTokens(given) {
      const named = given.map(({ channel, bot, token }) => ({ channel, bot: bot.id, digest: digestToken(token) }));
      const { rows } = await database.read(AGENTS_BY_TOKENS, [JSON.stringify(named)]);
      return rows.map(({ agent_id }) => String(agent_id));
    },

    ownerStatement: (agentId, channel, ownerId) =>
      statement(
        db
          .update(connections)
          .set({ ownerId })
          .where(and(eq(agentColumn, agentId), eq(channelColumn, channel))),
      ),

    async findAgentByBot(channel, botId) {
      const [row] = await db
        .select({ agentId: agentColumn })
        .from(connections)
        .where(and(eq(channelColumn, channel), eq(connections.botId, botId)));
      return row?.agentId;
    },

    async remove(agentId, channel, more = []) {
      const where = and(eq(agentColumn, agentId), eq(channelColumn, channel));
      const [result] = await database.write([statement(db.delete(connections).where(where)), ...more]);
      return (result?.rowsAffected ?? 0) > 0;
    },

    async setRegistration(callbackId, base, at) {
      const change = db.update(connections).set({ registeredBase: base, registeredAt: at });
      await database.write([statement(change.where(eq(connections.callbackId, callbackId)))]);
    },

    async saveResumePoints(resumes) {
      const sql = "UPDATE channel_connections SET resume = ? WHERE callback_id = ?";
      await database.write([...resumes].map(([callbackId, resume]) => ({ sql, args: [resume, callbackId] })));
    },

    async listUnregisteredAgents(after, channels, bases, limit) {
      const isElsewhere = or(isNull(registeredBase), notInArray(registeredBase, bases));
      const rows = await db
        .selectDistinct({ id: agentColumn })
        .from(connections)
        .where(and(gt(agentColumn, after), inArray(channelColumn, channels), isElsewhere))
        .orderBy(asc(agentColumn))
        .limit(limit);
      return rows.map(({ id }) => id);
    },

    unsealSecret: ({ callbackId, callbackSecret }) => vault.open(callbackSecret, sealContextOf(callbackId)),
  };
}
