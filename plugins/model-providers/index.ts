// The plugin of the operator's model providers: keys, addresses and default models, changed by admins in the running service.
import { plugin } from "../../src/kernel/plugin.ts";
import { perMinute } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { admin } from "../admin/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";

export const modelProviders = plugin("model-providers", (host) => {
  const { backend, limits } = host.kernel;
  const authService = host.use(auth);
  const { operatorProviders } = host.use(ai);
  const { auditStatement } = host.use(admin);
  return {
    service: {},
    lateRoutes: {
      web: [async () => (await import("./web-routes.ts")).webRoutes({ backend, authService })],
      backend: [
        async () =>
          (await import("./backend-routes.ts")).backendRoutes({
            authService,
            audit: auditStatement,
            operatorProviders: await operatorProviders(),
            limits,
          }),
      ],
    },
    // Each test costs a little, and tells whether a key is valid.
    rateLimitRules: { "model-test": { rates: [perMinute(20)] } },
  };
});
