// The life cycle of agents: start, stop, restart, update, rollback, repair, reset-memory, and coming up again by themselves.
import { createOrder } from "../../src/order.ts";
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { runtime } from "../runtime/index.ts";
import { backendRoutes } from "./backend.ts";
import { createCheck } from "./check.ts";
import { deploymentBackendRoutes, deploymentWebRoutes } from "./deployments.ts";
import { createHeal } from "./heal.ts";
import { createOperations } from "./operations.ts";
import { agentsFollowTheirOwner } from "./owners.ts";
import { createPortables } from "./portable.ts";
import { portableBackendRoutes, portableWebRoutes } from "./portable-routes.ts";
import { createRuntimes } from "./runtimes.ts";
import { createSnapshots } from "./snapshots/snapshots.ts";
import { createUpdates } from "./updates.ts";
import { webRoutes } from "./web.ts";

export { orFailure } from "./failure.ts";
export type { Runtime } from "./runtimes.ts";
export { OPERATIONS, type Operation, TRANSITIONS } from "./states.ts";

export const lifecycle = plugin("lifecycle", (host) => {
  const { kernel } = host;
  const accounts = host.use(auth);
  const { identities, users } = accounts;
  const hosted = host.use(agents);
  const talks = host.use(runtime);
  const models = host.use(ai);
  const portables = createPortables(host);

  const runtimes = createRuntimes(createCheck({ agents: hosted, runtime: talks }));
  const operations = createOperations({
    ...kernel,
    agents: hosted,
    channels: host.use(channels),
    runtime: talks,
    users,
    runtimes,
    snapshots: createSnapshots(host),
    updates: createUpdates(kernel.database),
    heal: createHeal({ ...kernel, agents: hosted, ai: models }),
    inOrder: createOrder(),
  });

  talks.beforeResuming(operations.holdHalves);
  hosted.refuseChangesWhile(operations.isUpdating);
  agentsFollowTheirOwner({ ...kernel, accounts, agents: hosted, channels: host.use(channels), stop: operations.stop });

  return {
    service: { carry: runtimes.carry, stop: operations.stop, start: operations.start },
    web: webRoutes({ ...kernel, identities, agents: hosted })
      .use(deploymentWebRoutes({ ...kernel, identities, agents: hosted }))
      .use(portableWebRoutes({ ...kernel, identities, agents: hosted, portables })),
    backend: backendRoutes({ guards: hosted.guards, operations })
      .use(deploymentBackendRoutes({ users, agents: hosted, operations }))
      .use(portableBackendRoutes({ identities, agents: hosted, portables })),
    start() {
      // Not waited for: one agent that does not come up keeps nobody from being served.
      operations.reconcile().catch((error: unknown) => kernel.log.error("agents could not be reconciled", { error }));
    },
    stop: operations.close,
  };
});
