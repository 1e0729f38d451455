// Stores the requests for the owner's approval of tool calls, decides them, and uses up each grant in one guarded write.
import { and, desc, eq, gt, lte, type SQL, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { CallToApprove } from "../skills/index.ts";
import { digestInput, redactInput } from "./redacted-input.ts";
import { type Approval, approvals as table } from "./schema.ts";

/** How long a request can be decided, and how long an approval can be used. */
const VALID_MS = DAY;
/** How long decided and expired requests are stored. */
const RETENTION_MS = 30 * DAY;
/** The most undecided requests of an agent, for those from its owner's turns and for those from other people's. */
const MAX_PENDING = 100;

/** Characters of an input that the owner can be asked about. */
const MAX_INPUT = 64 * 1024;

/** The turn in which a tool was called. */
export interface TurnOrigin {
  agentId: string;
  userId: string;
  sessionId: string;
  /** The id of the inbox entry. */
  turnId: string;
  /** Grows with each try of the turn. */
  attempt: number;
  platform: string;
  byOwner: boolean;
}

export type Scope = "once" | "conversation";

export interface Decision {
  decision: "approve" | "deny";
  /** Default `once`. */
  scope?: Scope | undefined;
}

export interface ApprovalPage {
  limit: number;
  offset: number;
  status?: Approval["status"];
}

export interface ApprovalStore {
  /**
   * Uses up an approval of this very call in its conversation; then the result is undefined, and the call may run once.
   * Otherwise requests an approval, unless one is waiting or was denied, and returns the refusal for the model.
   */
  authorize(origin: TurnOrigin, call: CallToApprove): Promise<string | undefined>;
  /** Newest first. */
  /** The number of undecided requests of each of a user's agents that has any. */
  countPending(userId: string): Promise<ReadonlyMap<string, number>>;
  list(agentId: string, page: ApprovalPage): Promise<Approval[]>;
  /** Of all agents of a user, newest first. */
  listOfUser(userId: string, page: ApprovalPage): Promise<Approval[]>;
  /**
   * Decides a request. Throws 404 `APPROVAL_NOT_FOUND`, 409 `ALREADY_DECIDED`, 410 `EXPIRED`, and 400 `SCOPE_NOT_ALLOWED`
   * for a scope that the class of the tool does not admit.
   */
  decide(agent: { id: string; userId: string }, id: string, decision: Decision): Promise<Approval>;
  /** Deletes all requests of an agent, as part of a batch. */
  forgetStatement(agentId: string): Statement;
  /** The same for all agents of a user. */
  forgetOfUserStatement(userId: string): Statement;
  deleteOld(): Promise<void>;
}

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "log">;
}

/**
 * ?1 agent, ?2 session, ?3 tool, ?4 digest, ?5 now, ?6 turn, ?7 try of the turn. One call uses one approval: the subquery and
 * the update are one statement, so that of two concurrent turns only one finds it unused. A turn that is tried again after
 * a failure finds the approval that its earlier try has used, as it finds what that try has done.
 */
const USE = `UPDATE approvals SET used_at = iif(scope = 'once', ?5, used_at), used_turn = ?6, used_attempt = ?7 WHERE id = (
  SELECT id FROM approvals WHERE agent_id = ?1 AND session_id = ?2 AND tool = ?3 AND status = 'approved' AND expires_at > ?5
    AND (scope = 'conversation'
      OR (digest = ?4 AND (used_at IS NULL OR (used_turn = ?6 AND used_attempt < ?7))))
  ORDER BY scope, used_at IS NULL, id LIMIT 1)`;

const REQUEST = `INSERT INTO approvals (id, agent_id, session_id, turn_id, platform, by_owner, tool, class, summary, input,
    digest, status, requested_at, expires_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'pending', ?12, ?13 WHERE (SELECT count(*) FROM approvals
    WHERE agent_id = ?2 AND status = 'pending' AND by_owner = ?6 AND expires_at > ?12) < ${MAX_PENDING}
  ON CONFLICT DO NOTHING`;

const EXPIRE = `UPDATE approvals SET status = 'expired' WHERE agent_id = ? AND session_id = ? AND tool = ? AND digest = ?
  AND status = 'pending' AND expires_at <= ?`;

/** The index of pending requests is small, so that looking up each agent in it is cheap. */
const COUNT_PENDING = `SELECT p.agent_id, count(*) AS pending FROM agents AS a CROSS JOIN approvals AS p ON p.agent_id = a.id
  WHERE a.user_id = ?1 AND p.status = 'pending' AND p.expires_at > ?2 GROUP BY p.agent_id`;

export function createApprovalStore({ database, events, log, agents }: Deps): ApprovalStore {
  const { drizzle } = database;

  /** The newest request for this very call that is waiting or was denied, while it is valid. */
  async function findOpen(
    { agentId, sessionId }: TurnOrigin,
    tool: string,
    digest: string,
    now: number,
  ): Promise<Approval | undefined> {
    const [found] = await drizzle
      .select()
      .from(table)
      .where(
        and(
          eq(table.agentId, agentId),
          eq(table.sessionId, sessionId),
          eq(table.tool, tool),
          eq(table.digest, digest),
          gt(table.expiresAt, now),
          sql`${table.status} IN ('pending', 'denied')`,
        ),
      )
      .orderBy(desc(table.id))
      .limit(1);
    return found;
  }

  async function request(
    origin: TurnOrigin,
    call: CallToApprove,
    digest: string,
    now: number,
  ): Promise<Approval | undefined> {
    const { agentId, userId, sessionId, turnId, platform, byOwner } = origin;
    const id = Bun.randomUUIDv7();
    const summary = log.redactForms(call.summary);
    const input = redactInput(call.input, log.redactForms);
    const expiresAt = now + VALID_MS;
    const key = [agentId, sessionId, call.tool, digest];
    const row = [sessionId, turnId, platform, byOwner, call.tool, call.class, summary, input, digest, now, expiresAt];
    try {
      await database.write([
        { sql: EXPIRE, args: [...key, now] },
        { sql: REQUEST, args: [id, agentId, ...row] },
        guard("approvals.pending"),
        events.recordStatement("approval.requested", {
          userId,
          agentId,
          data: { id, agentId, tool: call.tool, class: call.class, expiresAt: new Date(expiresAt).toISOString() },
        }),
      ]);
      agents.log(agentId, "info", `A tool call waits for your approval: ${summary}`, "approvals");
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      // A concurrent call has requested the same, or there are too many requests.
    }
    return findOpen(origin, call.tool, digest, now);
  }

  async function find(agentId: string, id: string): Promise<Approval> {
    const [found] = await drizzle
      .select()
      .from(table)
      .where(and(eq(table.agentId, agentId), eq(table.id, id)));
    if (!found) throw notFound("This agent has no request for approval with this id.", "APPROVAL_NOT_FOUND");
    return found;
  }

  const listWhere = (owned: SQL, { limit, offset, status }: ApprovalPage) =>
    drizzle
      .select()
      .from(table)
      .where(and(owned, status && hasStatus(status, Date.now())))
      .orderBy(desc(table.id))
      .limit(limit)
      .offset(offset);

  return {
    async authorize(origin, call) {
      const { agentId, sessionId, turnId, attempt, byOwner } = origin;
      const now = Date.now();
      const digest = digestInput(call.input);
      const [used] = await database.write([
        { sql: USE, args: [agentId, sessionId, call.tool, digest, now, turnId, attempt] },
      ]);
      if (used?.rowsAffected === 1) return undefined;
      if (JSON.stringify(call.input).length > MAX_INPUT) return tooLarge(call.tool);
      const open = (await findOpen(origin, call.tool, digest, now)) ?? (await request(origin, call, digest, now));
      return refusalOf(call, open, { agentId, byOwner });
    },

    list: (agentId, page) => listWhere(eq(table.agentId, agentId), page),
    listOfUser: (userId, page) =>
      listWhere(sql`${table.agentId} IN (SELECT id FROM agents WHERE user_id = ${userId})`, page),

    async countPending(userId) {
      const { rows } = await database.read(COUNT_PENDING, [userId, Date.now()]);
      return new Map(rows.map(({ agent_id, pending }) => [String(agent_id), Number(pending)]));
    },

    async decide({ id: agentId, userId }, id, { decision, scope = "once" }) {
      const found = await find(agentId, id);
      if (scope !== "once" && decision === "approve" && found.class !== "write") throw scopeNotAllowed(found.class);
      const now = Date.now();
      const approve = decision === "approve";
      const decide: Statement = {
        sql: `UPDATE approvals SET status = ?, scope = ?, decided_at = ?, decided_by = ?, expires_at = ?
          WHERE agent_id = ? AND id = ? AND status = 'pending' AND expires_at > ?`,
        args: [approve ? "approved" : "denied", approve ? scope : null, now, userId, now + VALID_MS, agentId, id, now],
      };
      try {
        await database.write([
          decide,
          guard("approvals.pending"),
          events.recordStatement("approval.decided", {
            userId,
            agentId,
            data: { id, agentId, tool: found.tool, class: found.class, decision },
          }),
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        const { status } = await find(agentId, id);
        throw status === "approved" || status === "denied" ? alreadyDecided(status) : expired();
      }
      return find(agentId, id);
    },

    forgetStatement: (agentId) => ({ sql: "DELETE FROM approvals WHERE agent_id = ?", args: [agentId] }),
    forgetOfUserStatement: (userId) => ({
      sql: "DELETE FROM approvals WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?)",
      args: [userId],
    }),
    async deleteOld() {
      await drizzle.delete(table).where(lte(table.requestedAt, Date.now() - RETENTION_MS));
    },
  };
}

/** A request whose time is over counts as expired before a write says so. */
function hasStatus(status: Approval["status"], now: number) {
  if (status === "pending") return and(eq(table.status, "pending"), gt(table.expiresAt, now));
  if (status !== "expired") return eq(table.status, status);
  return sql`(${table.status} = 'expired' OR (${table.status} = 'pending' AND ${table.expiresAt} <= ${now}))`;
}

function refusalOf(
  { tool, summary }: CallToApprove,
  open: Approval | undefined,
  { agentId, byOwner }: { agentId: string; byOwner: boolean },
): string {
  const reason = `${tool} was not run: text in this conversation comes from other people or from outside`;
  if (!open) return `${reason}, and too many calls already wait for the owner's approval. Don't call it again now.`;
  if (open.status === "denied") return `${tool} was not run: the owner has denied this call. Don't call it again.`;
  if (!byOwner)
    return `${reason}, so the owner of this agent has to approve the call first. Say so, and go on without it.`;
  return (
    `${tool} needs your owner's approval, with POST /api/agents/${agentId}/approvals/${open.id} {"decision":"approve"} within ` +
    `24 hours. It was not run: text in this conversation comes from other people or from outside. The call is: "${summary}". ` +
    `Tell your owner that, and why you want it. Once it is approved, call ${tool} again with exactly the same input. Don't ` +
    "look for another way to do it."
  );
}

const tooLarge = (tool: string) =>
  `${tool} was not run: it needs the owner's approval, and its input is too large to be shown. Make it smaller.`;

const alreadyDecided = (status: string) => new AppError(409, "ALREADY_DECIDED", `This request was ${status} already.`);
const expired = () =>
  new AppError(410, "EXPIRED", "This request has expired. Ask the agent again if the call is still wanted.");
const scopeNotAllowed = (toolClass: string) =>
  new AppError(
    400,
    "SCOPE_NOT_ALLOWED",
    `Calls of the class ${toolClass} are approved one by one. Use the scope once.`,
  );
