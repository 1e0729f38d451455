// The plugin of approvals: tool calls that need the owner's approval, their list and their decisions.
import { plugin } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createApprovalStore } from "./approval-store.ts";

export type { ApprovalStore, TurnOrigin } from "./approval-store.ts";
export { redactInput } from "./redacted-input.ts";

export const approvals = plugin("approvals", ({ kernel, use }) => {
  const agentService = use(agents);
  const authService = use(auth);
  const store = createApprovalStore({ ...kernel, agents: agentService });
  kernel.jobs.every("approvals.expire", DAY, store.deleteOld);
  // Approvals of a former owner of the account or the agent are not valid for the next one.
  authService.onAccountReclaim((userId) => [store.forgetOfUserStatement(userId)]);
  agentService.onTransfer((agentId) => [store.forgetStatement(agentId)]);

  const { guards } = agentService;
  const { identities } = authService;
  return {
    service: { authorize: store.authorize, countPending: store.countPending },
    lateRoutes: {
      web: [async () => (await import("./routes.ts")).webRoutes({ ...kernel, identities, guards, store })],
      backend: [async () => (await import("./routes.ts")).backendRoutes({ guards, store })],
    },
  };
});
