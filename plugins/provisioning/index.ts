// The plugin that makes an agent with its bots and a live stream in one request, for an account or to be claimed later.
import { plugin } from "../../src/kernel/plugin.ts";
import { perHour, perMinute } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { HOUR } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { streams } from "../streams/index.ts";
import { claimPageRoute } from "./claim-page-route.ts";
import { CLAIM_QUESTION, createClaims } from "./claims.ts";
import { createProvisioning, type Provisioning } from "./provisioning.ts";

export const provisioning = plugin("provisioning", (host) => {
  const { kernel } = host;
  const { identities, placeholderAccounts, users } = host.use(auth);
  const deps = {
    ...kernel,
    agents: host.use(agents),
    channels: host.use(channels),
    streams: host.use(streams),
    ai: host.use(ai),
    placeholderAccounts,
    users,
    claims: createClaims(kernel),
  };
  const service: Provisioning = {
    ...createProvisioning(deps),
    claim: async (...args) => (await import("./claim.ts")).claimAgent(deps, ...args),
  };
  kernel.cells?.answer(CLAIM_QUESTION, async (token) =>
    JSON.stringify(await (await import("./claim.ts")).placeOfClaim(deps, token)),
  );
  kernel.jobs.every("provisioning.expire", HOUR, () => service.removeExpired());

  return {
    rateLimitRules: { provision: { rates: [perMinute(5), perHour(30)] } },
    service,
    web: claimPageRoute(),
    lateRoutes: {
      web: [async () => (await import("./web-routes.ts")).webRoutes({ ...kernel, identities })],
      backend: [
        async () =>
          (await import("./backend-routes.ts")).backendRoutes({ ...kernel, identities, provisioning: service }),
      ],
    },
  };
});
