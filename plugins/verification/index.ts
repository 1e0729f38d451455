// Agent verification: attestations, exchange accounts, names and authenticators that show who stands behind an agent.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { deleteCredentialsStatement } from "./authenticators.ts";
import { backendRoutes } from "./backend-routes.ts";
import { createVerification } from "./verification.ts";
import { webRoutes } from "./web-routes.ts";

const UNVERIFY = "verification.strangers-out";

export const verification = plugin("verification", (host) => {
  const { kernel } = host;
  const authService = host.use(auth);
  const agentService = host.use(agents);

  // Who had the account before has proven nothing of who has it now.
  authService.onAccountReclaim((userId) => [
    deleteCredentialsStatement(userId),
    kernel.jobs.enqueueStatement(UNVERIFY, userId),
  ]);
  kernel.jobs.handle(UNVERIFY, async (userId) => {
    for (const { id } of await agentService.list(String(userId))) await agentService.verification.clear(id);
  });

  return {
    service: undefined,
    web: webRoutes({ ...kernel, identities: authService.identities, guards: agentService.guards }),
    backend: backendRoutes({
      guards: agentService.guards,
      verification: createVerification({ ...kernel, authService, agentService }),
    }),
  };
});
