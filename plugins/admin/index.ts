// The admin plugin: account administration over HTTP and on the command line, with an audit log.
import { readdirSync } from "node:fs";
import { auditKind } from "../../src/kernel/audit/audit-retention.ts";
import { programName } from "../../src/kernel/config/program-name.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { lateCommands } from "../../src/kernel/late-commands.ts";
import { ownsDatabase, plugin } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import type { AuditExport } from "./audit-export/audit-export.ts";
import { createAuditLog } from "./audit-log.ts";
import { auditSettings } from "./settings.ts";

export type { Actor } from "../../src/kernel/audit/actor.ts";
export type { Command, Commands } from "./commands.ts";
export { freezeBody, requireReason } from "./freeze-body.ts";

const COMMANDS = [
  "user.create",
  "user.invite",
  "user.grant",
  "user.admin",
  "user.list",
  "user.freeze",
  "user.unfreeze",
  "user.disable",
  "user.enable",
  "user.reset-password",
  "user.two-factor-off",
  "audit.take-notes",
  "audit.verify",
] as const;

/** Commands beside the service have left notes, which begin with this name. */
const hasNotes = (dataDir: string) => readdirSync(dataDir).some((name) => name.startsWith("operator-notes"));

export const admin = plugin("admin", (host) => {
  const { audit, idempotency, jobs, cells } = host.kernel;
  const authService = host.use(auth);
  const agentService = host.use(agents);
  const auditLog = createAuditLog(host.kernel);
  const plans = host.kernel.config.of(planSettings).table;

  authService.onFirstAdminCreated((user, request) => {
    const { address, id: requestId } = contextOf(request);
    const details = { name: user.name, isAdmin: true, emailVerified: true, password: true };
    const actor = { kind: "user", id: user.id, name: user.email, address, requestId } as const;
    return auditLog.recorderFor(actor)({ action: "user.create", user, details });
  });
  authService.onAdminByGroup(({ user, isAdmin, provider, groups }, request) => {
    const { address = null, requestId = null } = request ?? {};
    const actor = request
      ? ({ kind: "user", id: user.id, name: user.email, address, requestId } as const)
      : ({ kind: "command", id: null, name: programName(), address, requestId } as const);
    const details = { isAdmin: { from: !isAdmin, to: isAdmin }, provider, groups };
    return auditLog.recorderFor(actor)({ action: isAdmin ? "user.promote" : "user.demote", user, details });
  });
  if (cells) {
    const deps = { administration: authService.administration, auditLog, cells };
    const lists = async () => (await import("./admin-lists.ts")).createAdminLists(deps);
    cells.answer("admin.users", async (text) => JSON.stringify(await (await lists()).usersHere(JSON.parse(text))));
    cells.answer("admin.audit", async (text) => JSON.stringify(await auditLog.list(JSON.parse(text))));
    // The entries of a removed cell arrive as rows, so no commit of an entry has them sealed.
    cells.onAccountMoves({ arrived: () => audit.seal() });
  }
  host.kernel.retention.register(auditKind(host.kernel.database, audit));
  // Another process may write entries, which this one is not told of.
  if (!ownsDatabase(host.kernel)) jobs.every("admin.seal-audit", MINUTE, () => audit.seal());
  let auditExport: AuditExport | undefined;
  const takeNotes = async () => (await import("./operator-notes.ts")).takeNotes(host.kernel);

  return {
    service: {
      commands: lateCommands(COMMANDS, async () =>
        (await import("./commands.ts")).createCommands(
          authService.administration,
          auditLog,
          plans,
          takeNotes,
          host.kernel.database,
        ),
      ),
      /** The statement that records an admin's change of something else than an account. */
      auditStatement: auditLog.statementFor,
    },
    async start() {
      const { target, token } = host.kernel.config.of(auditSettings);
      if (target) {
        const { startAuditExport } = await import("./audit-export/audit-export.ts");
        auditExport = startAuditExport(host.kernel, target, token);
      }
      await audit.start();
      if (host.kernel.config.role !== "web" && hasNotes(host.kernel.config.dataDir)) await takeNotes();
    },
    async stop() {
      await audit.stop();
      await auditExport?.stop();
    },
    lateRoutes: {
      web: [
        async () =>
          (await import("./web-routes.ts")).adminRoutes({
            authService,
            agents: agentService,
            auditLog,
            plans,
            idempotency,
            cells,
          }),
      ],
    },
  };
});
