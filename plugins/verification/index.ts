// The verification plugin proves who stands behind an agent, by an attestation, an exchange account, a name or an
// authenticator.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { chains } from "../chains/index.ts";
import { deleteCredentialsStatement } from "./authenticators/authenticators.ts";

/** Stored in the jobs table, so the name stays. */
const UNVERIFY = "verification.strangers-out";

export const verification = plugin("verification", (host) => {
  const { kernel } = host;
  const authService = host.use(auth);
  const agentService = host.use(agents);
  const chain = host.use(chains).mainnet;

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
    lateRoutes: {
      web: [
        async () =>
          (await import("./web-routes.ts")).webRoutes({
            ...kernel,
            identities: authService.identities,
            guards: agentService.guards,
          }),
      ],
      backend: [
        async () => {
          const { backendRoutes } = await import("./backend-routes.ts");
          const { createVerification } = await import("./verification.ts");
          const verification = createVerification({ ...kernel, chain, authService, agentService });
          return backendRoutes({ guards: agentService.guards, verification });
        },
      ],
    },
  };
});
