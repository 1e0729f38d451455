// The verification plugin proves who stands behind an agent, by an attestation, an exchange account, a name or an
// authenticator.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { chains } from "../chains/index.ts";
import { deleteCredentialsStatement } from "./authenticators/authenticators.ts";
import { backendRoutes } from "./backend-routes.ts";
import { createVerification } from "./verification.ts";
import { webRoutes } from "./web-routes.ts";

/** Stored in the jobs table, so the name stays. */
const UNVERIFY = "verification.strangers-out";

export const verification = plugin("verification", (host) => {
  const { kernel } = host;
  const authService = host.use(auth);
  const agentService = host.use(agents);

  // Proofs of the account's former holder say nothing about the new one.
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
      verification: createVerification({ ...kernel, chain: host.use(chains).mainnet, authService, agentService }),
    }),
  };
});
