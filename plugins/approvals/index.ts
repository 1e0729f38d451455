// The plugin of approvals: tool calls that need the owner's approval, their list and their decisions.
import { plugin } from "../../src/kernel/plugin.ts";
import { retentionSettings } from "../../src/kernel/retention/settings.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { skills } from "../skills/index.ts";
import { createApprovalStore, sealContext, wholeContext } from "./approval-store.ts";
import { approvalsKind } from "./approvals-retention.ts";
import { createDecisions } from "./decisions.ts";

export type { Authorization, CallOrigin } from "./approval-store.ts";
export { type Decision, decidedWords } from "./decisions.ts";
export { redactInput } from "./redacted-input.ts";
export type { Approval } from "./schema.ts";

export const approvals = plugin("approvals", ({ kernel, use }) => {
  const agentService = use(agents);
  const authService = use(auth);
  const store = createApprovalStore({ ...kernel, agents: agentService });
  const decisions = createDecisions({
    ...kernel,
    agents: agentService,
    skills: use(skills),
    store,
    users: authService.users,
  });
  kernel.metrics.measured(
    { berth_approvals_waiting: ["Tool calls that wait for their owner's approval."] },
    async () => ({ berth_approvals_waiting: await store.countAllPending() }),
  );
  kernel.retention.register(approvalsKind(kernel.database, kernel.config.of(retentionSettings).turns));
  kernel.jobs.every("approvals.expire", MINUTE, decisions.expire);
  kernel.keyRotation.registerColumn({
    label: "approvals",
    table: "approvals",
    keyColumns: ["id"],
    sealed: "edited",
    where: "edited IS NOT NULL",
    sealContext: ({ id }) => sealContext(id),
  });
  kernel.keyRotation.registerColumn({
    label: "calls to approve",
    table: "approvals",
    keyColumns: ["id"],
    sealed: "whole",
    where: "whole IS NOT NULL",
    sealContext: ({ id }) => wholeContext(id),
  });
  // Approvals of a former owner of the account or the agent are not valid for the next one.
  authService.onAccountReclaim((userId) => [store.forgetOfUserStatement(userId)]);
  agentService.onTransfer((agentId) => [store.forgetStatement(agentId)]);

  const { guards } = agentService;
  const { identities } = authService;
  return {
    service: {
      authorize: store.authorize,
      chatSummary: store.chatSummary,
      markAskedStatement: store.markAskedStatement,
      require: store.require,
      findByCode: store.findByCode,
      pendingOfTurn: store.pendingOfTurn,
      countPending: store.countPending,
      decide: decisions.decide,
      onTurnDecided: decisions.onTurnDecided,
    },
    lateRoutes: {
      web: [async () => (await import("./routes.ts")).webRoutes({ ...kernel, identities, guards, store, decisions })],
      backend: [async () => (await import("./routes.ts")).backendRoutes({ guards, store, decisions })],
    },
  };
});
