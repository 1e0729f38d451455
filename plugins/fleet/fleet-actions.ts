// What admins may do to the instance: stop and start agents, retry jobs, make backups. Each action is in the audit log.
import { actorOfRequest } from "../../src/kernel/audit/current-actor.ts";
import { GuardFailed, type Statement } from "../../src/kernel/database/database.ts";
import { AppError, forbidden, notFound } from "../../src/kernel/errors.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { type Actor, type admin as adminPlugin, type Command, requireReason } from "../admin/index.ts";
import { type Agent, type agents as agentsPlugin, isFrozen } from "../agents/index.ts";
import type { auth, Caller } from "../auth/index.ts";
import type { lifecycle as lifecyclePlugin } from "../lifecycle/index.ts";
import type { DatabaseBackups } from "./backups/database-backups.ts";
import { toBackupItem } from "./fleet-reports.ts";

interface Deps extends Pick<Kernel, "database" | "jobs"> {
  admin: Pick<ServiceOf<typeof adminPlugin>, "auditStatement">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "require" | "freeze" | "unfreeze">;
  backups: DatabaseBackups;
  lifecycle: Pick<ServiceOf<typeof lifecyclePlugin>, "start" | "stop">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  mails: Pick<ServiceOf<typeof auth>["mails"], "frozenStatements">;
}

/** Completes the line in the agent's log, which its owner reads. */
const STOP_REASON = "an admin of this service stopped it";

export type FleetActions = ReturnType<typeof createFleetActions>;

export function createFleetActions({ database, jobs, admin, agents, backups, lifecycle, users, mails }: Deps) {
  const { auditStatement } = admin;

  /** The admin, or the admin's key. */
  async function actorOf({ userId }: Caller, request: Request): Promise<Actor> {
    const actor = actorOfRequest(contextOf(request));
    return actor.name === "" ? { ...actor, name: (await users.byId(userId))?.email ?? userId } : actor;
  }

  /** For who manages the agents of all accounts. */
  const requireAgent = (id: string) =>
    agents.require(id).catch((error: unknown) => {
      if (!(error instanceof AppError && error.status === 404)) throw error;
      throw notFound("There is no agent with this id.", "AGENT_NOT_FOUND");
    });

  /** Recorded before it begins, since an operation is several writes: an attempt that fails is in the log too. */
  async function operate(operation: "start" | "stop", id: string, caller: Caller, request: Request) {
    const agent = await requireAgent(id);
    if (operation === "start" && isFrozen(agent)) throw frozenForAdmins(agent);
    const [actor, owner] = await Promise.all([actorOf(caller, request), users.byId(agent.userId)]);
    const target = { kind: "agent", id: agent.id, name: agent.name };
    const details = { owner: owner?.email ?? null, status: agent.status };
    await database.write([auditStatement(actor, { action: `agent.${operation}`, target, details })]);
    const changed =
      operation === "start" ? await lifecycle.start(agent.id) : await lifecycle.stop(agent.id, STOP_REASON);
    return { success: true as const, id: changed.id, status: changed.status, reason: changed.statusReason };
  }

  async function setFrozen(id: string, reason: string | null, actor: Actor) {
    const agent = await requireAgent(id);
    const owner = await users.byId(agent.userId);
    const action = reason === null ? "agent.unfreeze" : "agent.freeze";
    const target = { kind: "agent", id: agent.id, name: agent.name };
    const details = { owner: owner?.email ?? null, ...(reason !== null && { reason }) };
    const audit = auditStatement(actor, { action, target, details });
    // None for a new reason of the same freeze, and none while the account's own freeze still holds the agent.
    const isNews = reason === null ? !agent.ownerFrozen : agent.frozenAt === null;
    const mail = owner && isNews ? mails.frozenStatements(owner, reason, agent.name) : [];
    const more = [audit, ...mail];
    const changed = await (reason === null ? agents.unfreeze(id, more) : agents.freeze(id, reason, more));
    return { success: true as const, id: changed.id, status: changed.status, reason: changed.statusReason };
  }

  /** By the operator of the machine. */
  const freezeByCommand =
    (toReason: (args: Readonly<Record<string, string>>) => string | null): Command =>
    async (args) => {
      const { id = "", operator = "" } = args;
      const actor = { kind: "command", id: null, name: operator, address: null, requestId: null } as const;
      const { name } = await requireAgent(id);
      return { ...(await setFrozen(id, toReason(args), actor)), name };
    };

  async function changeJob(action: string, id: string, statements: Statement[], caller: Caller, request: Request) {
    const { rows } = await database.read("SELECT kind FROM jobs WHERE id = ?", [id]);
    const target = { kind: "job", id, name: String(rows[0]?.kind ?? "") };
    const audit = auditStatement(await actorOf(caller, request), { action, target, details: {} });
    try {
      await database.write([...statements, audit]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      throw notFound("There is no failed job with this id. It may be running again.", "JOB_NOT_FAILED");
    }
    return { success: true as const, id };
  }

  return {
    startAgent: (id: string, caller: Caller, request: Request) => operate("start", id, caller, request),
    stopAgent: (id: string, caller: Caller, request: Request) => operate("stop", id, caller, request),
    freezeAgent: async (id: string, reason: string | null, caller: Caller, request: Request) =>
      setFrozen(id, reason, await actorOf(caller, request)),

    /** The commands `berth agent …`, by their names on the control socket. */
    commands: {
      "agent.freeze": freezeByCommand(({ reason }) => requireReason(reason)),
      "agent.unfreeze": freezeByCommand(() => null),
    },

    retryJob: (id: string, caller: Caller, request: Request) =>
      changeJob("job.retry", id, jobs.retryStatements(id), caller, request),
    discardJob: (id: string, caller: Caller, request: Request) =>
      changeJob("job.discard", id, jobs.discardStatements(id), caller, request),

    async makeBackup(caller: Caller, request: Request) {
      const actor = await actorOf(caller, request);
      const backup = await backups.begin((name) => [
        auditStatement(actor, { action: "backup.create", target: { kind: "backup", id: name, name }, details: {} }),
      ]);
      return { backup: toBackupItem(backup) };
    },

    async removeBackup(name: string, caller: Caller, request: Request) {
      await backups.require(name);
      const target = { kind: "backup", id: name, name };
      const audit = auditStatement(await actorOf(caller, request), { action: "backup.delete", target, details: {} });
      await database.write([audit]);
      await backups.remove(name);
      return { success: true as const, name };
    },

    /** The backup, which holds every account's data; only for admins who signed in on the web surface. */
    async downloadBackup(name: string, caller: Caller, request: Request): Promise<Response> {
      if (!caller.hasServiceToken) throw forbidden("SESSION_REQUIRED", "API keys can't do this. Sign in instead.");
      const { body, bytes } = await backups.read(name);
      const target = { kind: "backup", id: name, name };
      const actor = await actorOf(caller, request);
      await database.write([auditStatement(actor, { action: "backup.download", target, details: {} })]);
      const headers = {
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename="${name}"`,
        "content-length": String(bytes),
      };
      return new Response(body, { headers });
    },
  };
}

/** An owner is told to ask the operator. */
const frozenForAdmins = ({ ownerFrozen }: Agent) =>
  new AppError(
    409,
    "AGENT_FROZEN",
    ownerFrozen
      ? "The account of this agent's owner is frozen. The agent goes on by itself once you unfreeze the account."
      : "This agent is frozen. It goes on by itself once you unfreeze it.",
  );
