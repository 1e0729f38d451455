// Public pages: each agent has a card at its public address, and a chat for visitors if its owner switches it on.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { runtime } from "../runtime/index.ts";
import { createAgentCards } from "./agent-card.ts";
import { backendRoutes } from "./backend-routes.ts";
import { publicPageBackupRows } from "./backup-rows.ts";
import { createPageRenderer } from "./page-renderer.ts";
import { createPublicPageStore } from "./public-page-store.ts";
import { createVirtualHost } from "./virtual-host.ts";
import { createVisitorCookies } from "./visitor-cookies.ts";
import { toVisitorError } from "./visitor-errors.ts";
import { createVisitorLimiter } from "./visitor-limiter.ts";
import { createVisitorMessages } from "./visitor-messages.ts";
import { webRoutes } from "./web-routes.ts";

export { exportedPublicPage, type PublicPageRow } from "./backup-rows.ts";
export { messageBody as visitorMessageBody, messageId, reply as visitorReply, VISIT_ERRORS } from "./model.ts";

export const publicPage = plugin("public-page", (host) => {
  const { kernel } = host;
  const { identities, users } = host.use(auth);
  const agentService = host.use(agents);
  const pageStore = createPublicPageStore(kernel);
  const cards = createAgentCards({ users, agents: agentService, pageStore });
  const visitorLimiter = createVisitorLimiter(kernel);
  const visitorMessages = createVisitorMessages({ ...kernel, visitorLimiter });
  return {
    service: {
      /** The limits of visitors, programs too: for messages that don't come through the page. */
      visitors: visitorLimiter,
      /** Sends what visitors write, for pages of other plugins. */
      visitorMessages,
      toVisitorError,
      /** The settings of an agent's page. If it is enabled, the agent's name is public. */
      publicPageOf: pageStore.settingsOf,
      enabledAmong: pageStore.enabledAmong,
      backupRows: publicPageBackupRows,
    },
    virtualHost: createVirtualHost(kernel.config),
    web: webRoutes({
      ...kernel,
      cards,
      agents: agentService,
      visitorCookies: createVisitorCookies(kernel),
      visitorLimiter,
      visitorMessages,
      pageRenderer: createPageRenderer(kernel.config),
    }),
    backend: backendRoutes({ identities, agents: agentService, runtime: host.use(runtime) }),
    lateRoutes: {
      web: [
        async () =>
          (await import("./settings-routes.ts")).settingsWebRoutes({
            ...kernel,
            identities,
            agents: agentService,
            pageStore,
            urlOf: cards.urlOf,
          }),
      ],
      backend: [
        async () => (await import("./settings-routes.ts")).settingsBackendRoutes({ agents: agentService, pageStore }),
      ],
    },
  };
});
