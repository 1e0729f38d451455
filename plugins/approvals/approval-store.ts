// Stores the requests for the owner's approval of tool calls, one for each call, and says whether a call may run.
import { and, desc, eq, gt, lt, type SQL, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { randomCode } from "../../src/kernel/util/text/random-code.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { CallToApprove } from "../skills/index.ts";
import { redactInput } from "./redacted-input.ts";
import { type Approval, approvals as table } from "./schema.ts";

/** How long a request can be decided, and how long a grant for a conversation can be used. */
export const VALID_MS = DAY;
/** The most undecided requests of an agent, for those from its owner's turns and for those from other people's. */
const MAX_PENDING = 100;
/** Characters of an input that the owner can be asked about. */
const MAX_INPUT = 64 * 1024;
/** About 30 bits, of which an attacker without the owner's chat can't use one. */
const CODE_LENGTH = 6;

/** The step of a turn in which a tool is called. */
export interface CallOrigin {
  agentId: string;
  userId: string;
  sessionId: string;
  /** The id of the inbox entry. */
  turnId: string;
  step: number;
  platform: string;
  byOwner: boolean;
}

/** Whether a call may run: with this input, which is the owner's if `isEdited`, by this approval; not, as the model is told; or not yet. */
export type Authorization =
  | { kind: "admitted"; input: unknown; isEdited: boolean; approvalId?: string }
  | { kind: "refused"; text: string }
  | { kind: "waiting"; approval: Approval };

export interface ApprovalPage {
  limit: number;
  offset: number;
  /** Only requests with ids before this one. */
  cursor?: string;
  status?: Approval["status"];
}

export interface ApprovalStore {
  /** Requests the approval of a call if it needs one, each call once: a later try of the turn finds the same request. */
  authorize(origin: CallOrigin, call: CallToApprove): Promise<Authorization>;
  /** The call with nothing blacked out until it is decided, for its owner alone: in words, and its input as JSON. */
  unredacted(approval: Approval): { summary: string; input: string };
  /** The call in words for the owner's chat: what has the form of a secret is blacked out, for chats are stored as they are. */
  chatSummary(approval: Approval): string;
  /** Marks requests as put to the owner in a chat. */
  markAskedStatement(agentId: string, ids: readonly string[]): Statement;
  /** Throws 404 `APPROVAL_NOT_FOUND`. */
  require(agentId: string, id: string): Promise<Approval>;
  /** The undecided requests of a turn, in the order of its calls. */
  pendingOfTurn(agentId: string, turnId: string): Promise<Approval[]>;
  /** The newest request with this code, which may be decided already. */
  findByCode(agentId: string, code: string): Promise<Approval | undefined>;
  /** The number of undecided requests of each of a user's agents that has any. */
  countPending(userId: string): Promise<ReadonlyMap<string, number>>;
  /** The number of undecided requests of all agents. */
  countAllPending(): Promise<number>;
  /** Newest first. */
  list(agentId: string, page: ApprovalPage): Promise<Approval[]>;
  /** Of all agents of a user, newest first. */
  listOfUser(userId: string, page: ApprovalPage): Promise<Approval[]>;
  /** Deletes all requests of an agent, as part of a batch. */
  forgetStatement(agentId: string): Statement;
  /** The same for all agents of a user. */
  forgetOfUserStatement(userId: string): Statement;
}

interface Deps extends Pick<Kernel, "database" | "events" | "log" | "vault"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "log">;
}

const REQUEST = `INSERT INTO approvals (id, agent_id, session_id, turn_id, step, code, platform, by_owner, tool, class, summary,
    input, status, requested_at, expires_at, taint, whole)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'pending', ?13, ?14, ?15, ?16 WHERE (SELECT count(*) FROM approvals
    WHERE agent_id = ?2 AND status = 'pending' AND by_owner = ?8 AND expires_at > ?13) < ${MAX_PENDING}
  ON CONFLICT DO NOTHING`;
const GRANT = `SELECT id FROM approvals WHERE agent_id = ? AND session_id = ? AND tool = ? AND scope = 'conversation'
  AND status = 'approved' AND expires_at > ? LIMIT 1`;
/** So many requests are looked through, whosever they are: for an account of 10,000 agents that is faster than to look up each agent. */
const FEW = 500;
const COUNT_FEW = `SELECT count(*) AS count FROM (SELECT 1 FROM approvals INDEXED BY approvals_due WHERE status = 'pending' AND expires_at > ?1 LIMIT ${FEW})`;
const countPendingSql = (tables: string) => `SELECT p.agent_id, count(*) AS pending FROM ${tables} ON p.agent_id = a.id
  WHERE a.user_id = ?1 AND p.status = 'pending' AND p.expires_at > ?2 GROUP BY p.agent_id`;
/** By the index of times: requests that have expired may be many, until they are marked. */
const COUNT_AMONG_FEW = countPendingSql("approvals AS p INDEXED BY approvals_due CROSS JOIN agents AS a");
const COUNT_OF_AGENTS = countPendingSql("agents AS a CROSS JOIN approvals AS p");

/** What the sealed input of a request is bound to. */
export const sealContext = (id: unknown) => `approval:${id}`;
/** What the sealed whole call of a request is bound to. */
export const wholeContext = (id: unknown) => `approval:${id}:whole`;

export function createApprovalStore({ database, events, log, vault, agents }: Deps): ApprovalStore {
  const { drizzle } = database;

  const findWhere = async (...conditions: SQL[]): Promise<Approval | undefined> =>
    (
      await drizzle
        .select()
        .from(table)
        .where(and(...conditions))
        .limit(1)
    )[0];

  const findOfCall = ({ agentId, turnId, step }: CallOrigin) =>
    findWhere(eq(table.agentId, agentId), eq(table.turnId, turnId), eq(table.step, step));

  /** The approval of this tool for the whole conversation. */
  async function findGrant({ agentId, sessionId }: CallOrigin, tool: string): Promise<string | undefined> {
    const [row] = (await database.read(GRANT, [agentId, sessionId, tool, Date.now()])).rows;
    return row && String(row.id);
  }

  async function request(origin: CallOrigin, call: CallToApprove, words: string): Promise<Approval | undefined> {
    const { agentId, userId, sessionId, turnId, step, platform, byOwner } = origin;
    const id = Bun.randomUUIDv7();
    const now = Date.now();
    const expiresAt = now + VALID_MS;
    const inputText = JSON.stringify(call.input) ?? "null";
    const summary = log.redactForms(words);
    const input = redactInput(call.input, log.redactForms);
    const isHidden = summary !== words || input !== inputText;
    const whole = isHidden ? vault.seal(JSON.stringify([words, inputText]), wholeContext(id)) : null;
    const of = [id, agentId, sessionId, turnId, step, randomCode(CODE_LENGTH), platform, byOwner];
    const insert = {
      sql: REQUEST,
      args: [...of, call.tool, call.class, summary, input, now, expiresAt, call.taint, whole],
    };
    const until = new Date(expiresAt).toISOString();
    const data = { id, agentId, tool: call.tool, class: call.class, expiresAt: until };
    try {
      await database.write([
        insert,
        guard("approvals.pending"),
        events.recordStatement("approval.requested", { userId, agentId, data }),
      ]);
      const links = { turn: turnId, approval: id };
      agents.log(agentId, "info", `A tool call waits for your approval: ${summary}`, "approvals", links);
    } catch (error) {
      // There are too many requests.
      if (!(error instanceof GuardFailed)) throw error;
    }
    return findOfCall(origin);
  }

  /** Tells the owner of a call that was refused without a question. */
  const report = ({ agentId, turnId }: CallOrigin, text: string) =>
    agents.log(agentId, "warning", text, "approvals", { turn: turnId });

  /** Notes that the approved call begins. */
  async function admit({ id, edited }: Approval, input: unknown): Promise<Authorization> {
    await database.write([{ sql: "UPDATE approvals SET used_at = ? WHERE id = ?", args: [Date.now(), id] }]);
    if (edited === null) return { kind: "admitted", input, isEdited: false, approvalId: id };
    return { kind: "admitted", input: JSON.parse(vault.open(edited, sealContext(id))), isEdited: true, approvalId: id };
  }

  const listWhere = (owned: SQL, { limit, offset, cursor, status }: ApprovalPage) =>
    drizzle
      .select()
      .from(table)
      .where(
        and(owned, cursor === undefined ? undefined : lt(table.id, cursor), status && hasStatus(status, Date.now())),
      )
      .orderBy(desc(table.id))
      .limit(limit)
      .offset(offset);

  const unredacted: ApprovalStore["unredacted"] = ({ id, summary, input, whole: sealed }) => {
    if (sealed === null) return { summary, input };
    const [words, inputText] = JSON.parse(vault.open(sealed, wholeContext(id))) as [string, string];
    return { summary: words, input: inputText };
  };

  return {
    unredacted,
    chatSummary: (approval) => log.redactByForm(unredacted(approval).summary),

    async authorize(origin, call) {
      const refuse = (why: string) => ({ kind: "refused", text: `${call.tool} was not run: ${why}` }) as const;
      const known = await findOfCall(origin);
      const grant = known ? undefined : await findGrant(origin, call.tool);
      if (grant !== undefined) return { kind: "admitted", input: call.input, isEdited: false, approvalId: grant };
      if (!known && JSON.stringify(call.input).length > MAX_INPUT) {
        report(origin, `A call of ${call.tool} was refused: its input is too large to be shown.`);
        return refuse("it needs the owner's approval, and its input is too large to be shown. Make it smaller.");
      }
      const words = known ? "" : await inWords(call);
      // It could only fail: its owner is not asked.
      if (words instanceof AppError) return { kind: "refused", text: words.message };
      const approval = known ?? (await request(origin, call, words));
      if (!approval) {
        report(origin, `A call of ${call.tool} was refused: too many calls wait for your approval.`);
        return refuse("too many calls already wait for the owner's approval. Don't call it again now.");
      }
      if (approval.status === "approved") return admit(approval, call.input);
      if (approval.status === "denied") return refuse("the owner has denied this call. Don't call it again.");
      if (isExpired(approval)) return refuse("the owner has not decided within 24 hours, so the request has expired.");
      return { kind: "waiting", approval };
    },

    markAskedStatement: (agentId, ids) => ({
      sql: "UPDATE approvals SET asked = 1 WHERE agent_id = ? AND id IN (SELECT value FROM json_each(?))",
      args: [agentId, JSON.stringify(ids)],
    }),

    async require(agentId, id) {
      const found = await findWhere(eq(table.agentId, agentId), eq(table.id, id));
      if (!found) throw notFound("This agent has no request for approval with this id.", "APPROVAL_NOT_FOUND");
      return found;
    },
    async pendingOfTurn(agentId, turnId) {
      const ofTurn = and(eq(table.agentId, agentId), eq(table.turnId, turnId), hasStatus("pending", Date.now()));
      return drizzle.select().from(table).where(ofTurn).orderBy(table.step);
    },
    async findByCode(agentId, code) {
      const withCode = and(eq(table.agentId, agentId), eq(table.code, code.toUpperCase()));
      return (await drizzle.select().from(table).where(withCode).orderBy(desc(table.id)).limit(1))[0];
    },

    list: (agentId, page) => listWhere(eq(table.agentId, agentId), page),
    listOfUser: (userId, page) =>
      listWhere(sql`${table.agentId} IN (SELECT id FROM agents WHERE user_id = ${userId})`, page),

    async countPending(userId) {
      const now = Date.now();
      const all = Number((await database.read(COUNT_FEW, [now])).rows[0]?.count);
      const { rows } = await database.read(all < FEW ? COUNT_AMONG_FEW : COUNT_OF_AGENTS, [userId, now]);
      return new Map(rows.map(({ agent_id, pending }) => [String(agent_id), Number(pending)]));
    },

    async countAllPending() {
      const sql = "SELECT count(*) AS count FROM approvals WHERE status = 'pending' AND expires_at > ?";
      const { rows } = await database.readLong(sql, [Date.now()]);
      return Number(rows[0]?.count);
    },

    forgetStatement: (agentId) => ({ sql: "DELETE FROM approvals WHERE agent_id = ?", args: [agentId] }),
    forgetOfUserStatement: (userId) => ({
      sql: "DELETE FROM approvals WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?)",
      args: [userId],
    }),
  };
}

/** The call in words; the error of one that could only fail. */
const inWords = (call: CallToApprove): Promise<string | AppError> =>
  call.inWords().catch((error: unknown) => (error instanceof AppError ? error : Promise.reject(error)));

/** A request whose time is over counts as expired before a write says so. */
export const isExpired = ({ status, expiresAt }: Pick<Approval, "status" | "expiresAt">) =>
  status === "expired" || (status === "pending" && expiresAt <= Date.now());

function hasStatus(status: Approval["status"], now: number) {
  if (status === "pending") return and(eq(table.status, "pending"), gt(table.expiresAt, now));
  if (status !== "expired") return eq(table.status, status);
  return sql`(${table.status} = 'expired' OR (${table.status} = 'pending' AND ${table.expiresAt} <= ${now}))`;
}
