// Decides requests for approval, each once, and lets the turns go on that wait for them.
import { channelDefinition, isChannelId } from "../../channels/registry.ts";
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { setJsonMembers } from "../../src/kernel/util/json-text.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { type skills as skillsPlugin, TAINT, type ToolClass } from "../skills/index.ts";
import { type ApprovalStore, isExpired, sealContext, VALID_MS } from "./approval-store.ts";
import { redactInput } from "./redacted-input.ts";
import type { Approval } from "./schema.ts";

export type Scope = "once" | "conversation" | "always";

export interface Decision {
  decision: "approve" | "deny";
  /** Default `once`. */
  scope?: Scope | undefined;
  /** Takes the place of the input. */
  input?: unknown;
}

/** Returns the statement that lets a turn go on once none of its requests is undecided. */
export type ResumeTurn = (agentId: string, turnId: string) => Statement;

export interface Decisions {
  /**
   * Decides a request, on this platform. Throws 404 `APPROVAL_NOT_FOUND`, 409 `ALREADY_DECIDED`, 410 `EXPIRED`, 400
   * `SCOPE_NOT_ALLOWED` for a scope that the class of the tool does not admit, and 400 `INVALID_INPUT` for an input that does
   * not fit the tool.
   */
  decide(agent: { id: string; userId: string }, id: string, decision: Decision, on: string): Promise<Approval>;
  /** The scopes with which a request can be approved; none once it is decided. */
  scopesOf(approval: Approval): Promise<readonly Scope[]>;
  /** Ends the requests whose time is over. */
  expire(): Promise<void>;
  /** Registers the handler of turns; until then none waits. */
  onTurnDecided(handler: ResumeTurn): void;
  /** The statement that lets a turn go on. */
  resumeStatement: ResumeTurn;
}

interface Deps extends Pick<Kernel, "database" | "events" | "log" | "vault" | "audit"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "editConfig" | "find" | "log">;
  skills: Pick<ServiceOf<typeof skillsPlugin>, "toolsFor">;
  store: Pick<ApprovalStore, "require">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
}

const DECIDE = `UPDATE approvals SET status = ?, scope = ?, decided_at = ?, decided_by = ?, decided_on = ?, expires_at = ?,
    edited = ?, input = coalesce(?, input), summary = coalesce(?, summary), whole = NULL
  WHERE agent_id = ? AND id = ? AND status = 'pending' AND expires_at > ?`;
const DUE = `SELECT approvals.id, agent_id, turn_id, tool, class, user_id FROM approvals
  JOIN agents ON agents.id = approvals.agent_id WHERE approvals.status = 'pending' AND expires_at <= ? LIMIT 200`;
const EXPIRE = "UPDATE approvals SET status = 'expired', whole = NULL WHERE id = ? AND status = 'pending'";

/** What a scope admits beyond one call may not be money or an effect outside, except by a rule that the owner can see. */
const SCOPES: Readonly<Record<ToolClass, readonly Scope[]>> = {
  read: ["once", "conversation", "always"],
  write: ["once", "conversation", "always"],
  outside: ["once", "always"],
  spend: ["once"],
};

export function createDecisions({
  database,
  events,
  log,
  vault,
  audit,
  agents,
  skills,
  store,
  users,
}: Deps): Decisions {
  let resume: ResumeTurn | undefined;
  const resumeStatement: ResumeTurn = (agentId, turnId) => {
    if (!resume) throw new Error("No handler of turns is registered.");
    return resume(agentId, turnId);
  };

  const findTool = async ({ agentId, tool, byOwner }: Approval) =>
    (await skills.toolsFor(agentId, byOwner)).find(({ name }) => name === tool);

  /** The offer of a tool that nobody trusts taints each conversation, in which all calls but those that read wait for the owner. */
  const isRuleObeyed = async (approval: Approval) =>
    approval.class === "read" || (await findTool(approval))?.hasForeignDescription !== true;

  /** The call with another input, in words. Throws 400 `INVALID_INPUT` unless the tool takes it. */
  async function editedWords(approval: Approval, input: unknown): Promise<string> {
    const { agentId, tool: name, byOwner } = approval;
    const checked = (await findTool(approval))?.check(input, { agentId, byOwner, taint: TAINT.none });
    if (!checked) throw invalidInput({ path: "input", message: `The agent has no tool ${name} any more.` });
    if ("refusal" in checked) {
      throw invalidInput({ path: "input", message: checked.problems?.join("; ") ?? checked.refusal });
    }
    return checked.inWords();
  }

  /** Makes the decision a rule of the configuration, in the write that decides. */
  const decideByRule = ({ agentId, tool }: Approval, rule: "allow" | "deny", statements: readonly Statement[]) =>
    agents.editConfig(
      agentId,
      (text) => {
        const { approvals = {} } = JSON.parse(text) as { approvals?: string[] | Record<string, string> };
        const named = Array.isArray(approvals) ? Object.fromEntries(approvals.map((name) => [name, "ask"])) : approvals;
        return setJsonMembers(text, { approvals: JSON.stringify({ ...named, [tool]: rule }) });
      },
      { statements },
    );

  /** By the account of the request; in a chat of the owner's, by the owner. */
  async function auditStatement(found: Approval, userId: string, decision: string, scope: Scope, on: string) {
    const { id, agentId, tool, class: toolClass, turnId: turn } = found;
    const [agent, owner] = await Promise.all([agents.find(agentId), users.byId(userId)]);
    const target = { kind: "agent", id: agentId, name: agent?.name ?? "" };
    const details = { approval: id, tool, class: toolClass, scope, turn, on };
    const change = { action: `approval.${decision}`, target, details };
    if (on === "web") return audit.record(change);
    return audit.statementFor(
      { kind: "user", id: userId, name: owner?.email ?? "", address: null, requestId: null },
      change,
    );
  }

  return {
    async decide({ id: agentId, userId }, id, { decision, scope = "once", input }, on) {
      const found = await store.require(agentId, id);
      const approve = decision === "approve";
      const allowed = approve ? SCOPES[found.class] : ["once", "always"];
      if (!allowed.includes(scope)) throw scopeNotAllowed(found.class, scope);
      if (approve && scope === "always" && !(await isRuleObeyed(found))) throw ruleHasNoEffect(found.tool);
      const isEdited = input !== undefined;
      if (isEdited && !approve) throw invalidInput({ path: "input", message: "Only an approval takes another input." });
      const words = isEdited ? log.redactForms(await editedWords(found, input)) : null;
      const now = Date.now();
      const edited = isEdited ? vault.seal(JSON.stringify(input), sealContext(id)) : null;
      const shown = isEdited ? redactInput(input, log.redactForms) : null;
      const standing = approve || scope === "always" ? scope : null;
      const outcome = [
        approve ? "approved" : "denied",
        standing,
        now,
        userId,
        on,
        now + VALID_MS,
        edited,
        shown,
        words,
      ];
      const statements = [
        { sql: DECIDE, args: [...outcome, agentId, id, now] },
        guard("approvals.pending"),
        resumeStatement(agentId, found.turnId),
        events.recordStatement("approval.decided", {
          userId,
          agentId,
          data: { id, agentId, tool: found.tool, class: found.class, decision },
        }),
        await auditStatement(found, userId, decision, scope, on),
      ];
      try {
        if (scope === "always") await decideByRule(found, approve ? "allow" : "deny", statements);
        else await database.write(statements);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        const current = await store.require(agentId, id);
        throw isExpired(current) ? expired() : alreadyDecided(current);
      }
      const links = { turn: found.turnId, approval: id };
      if (approve) agents.log(agentId, "info", `A call of ${found.tool} was approved.`, "approvals", links);
      else agents.log(agentId, "info", `A call of ${found.tool} was denied.`, "approvals", links);
      return store.require(agentId, id);
    },

    async scopesOf(approval) {
      if (approval.status !== "pending" || isExpired(approval)) return [];
      const scopes = SCOPES[approval.class];
      if (!scopes.includes("always") || (await isRuleObeyed(approval))) return scopes;
      return scopes.filter((scope) => scope !== "always");
    },

    async expire() {
      const { rows } = await database.read(DUE, [Date.now()]);
      for (const row of rows) {
        const [id, agentId, turnId, userId] = [row.id, row.agent_id, row.turn_id, row.user_id].map(String);
        if (id === undefined || agentId === undefined || turnId === undefined || userId === undefined) continue;
        const data = { id, agentId, tool: String(row.tool), class: String(row.class), decision: "expired" };
        await database.write([
          { sql: EXPIRE, args: [id] },
          resumeStatement(agentId, turnId),
          events.recordStatement("approval.decided", { userId, agentId, data }),
        ]);
        const text = `Nobody has decided about a call of ${data.tool} within 24 hours: it was not run.`;
        agents.log(agentId, "warning", text, "approvals", { turn: turnId, approval: id });
      }
    },

    onTurnDecided(handler) {
      resume = handler;
    },
    resumeStatement,
  };
}

/** Who decided, for people who come too late. */
export const decidedWords = ({ status, decidedOn }: Pick<Approval, "status" | "decidedOn">) =>
  `${status} already${decidedOn === null ? "" : ` (${isChannelId(decidedOn) ? `on ${channelDefinition(decidedOn).label}` : "in the console"})`}`;

const alreadyDecided = (approval: Approval) =>
  new AppError(409, "ALREADY_DECIDED", `This request was ${decidedWords(approval)}.`);
const expired = () =>
  new AppError(410, "EXPIRED", "This request has expired. Ask the agent again if the call is still wanted.");
const ruleHasNoEffect = (tool: string) =>
  new AppError(
    400,
    "SCOPE_NOT_ALLOWED",
    `A rule for ${tool} would have no effect, since each call of a server that you don't trust waits for you. Approve it once, or say first that you trust the server.`,
  );
const scopeNotAllowed = (toolClass: ToolClass, scope: Scope) =>
  new AppError(
    400,
    "SCOPE_NOT_ALLOWED",
    toolClass === "spend"
      ? "Payments are approved one by one. Use the scope once."
      : `Calls of the class ${toolClass} can't be decided for the scope ${scope}.`,
  );
