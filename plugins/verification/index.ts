// Agent verification: attestations, exchange accounts, names and authenticators that show who stands behind an agent.
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { forgetAuthenticators } from "./authenticators.ts";
import { backendRoutes } from "./backend.ts";
import { createVerification } from "./verification.ts";
import { webRoutes } from "./web.ts";

const UNVERIFY = "verification.strangers-out";

export const verification = plugin("verification", (host) => {
  const { kernel } = host;
  const accounts = host.use(auth);
  const hosted = host.use(agents);

  // Who had the account before has proven nothing of who has it now.
  accounts.onTakeover((userId) => [forgetAuthenticators(userId), kernel.jobs.enqueue(UNVERIFY, userId)]);
  kernel.jobs.handle(UNVERIFY, async (userId) => {
    for (const { id } of await hosted.list(String(userId))) await hosted.verification.clear(id);
  });

  return {
    service: undefined,
    web: webRoutes({ ...kernel, identities: accounts.identities, guards: hosted.guards }),
    backend: backendRoutes({
      guards: hosted.guards,
      verification: createVerification({ ...kernel, accounts, agents: hosted }),
    }),
  };
});
