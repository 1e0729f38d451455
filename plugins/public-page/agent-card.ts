// Reads an agent's card: the public facts that its page shows, and whether visitors may talk to it.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { Card } from "./model.ts";
import type { PublicPageSettings, PublicPageStore } from "./public-page-store.ts";

export interface AgentCards {
  /** With the origins of sites that may show the page. */
  cardOf(agent: Agent): Promise<{ card: Card; embedOrigins: readonly string[] }>;
  /** The page's settings if visitors may talk to the agent: it is switched on, and the owner's account is enabled. */
  enabledPage(agent: Agent): Promise<PublicPageSettings | undefined>;
  /** The public address of the agent. */
  urlOf(agent: Agent): string;
}

interface Deps {
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "views">;
  pageStore: PublicPageStore;
}

export function createAgentCards({ users, agents, pageStore }: Deps): AgentCards {
  const urlOf = (agent: Agent) => agents.views.detail(agent, "").url;

  async function enabledPage(agent: Agent): Promise<PublicPageSettings | undefined> {
    const page = await pageStore.settingsOf(agent.id);
    return page.enabled && (await users.byId(agent.userId))?.disabledAt === null ? page : undefined;
  }

  return {
    urlOf,
    enabledPage,
    async cardOf(agent) {
      const page = await enabledPage(agent);
      const { name, status, verified, verificationType } = agent;
      const card: Card = {
        name,
        status: status === "stopped" ? "asleep" : status === "error" ? "unwell" : "online",
        verified,
        verificationType: verified ? verificationType : null,
        chat: page !== undefined,
        greeting: page?.greeting ?? "",
        url: urlOf(agent),
      };
      return { card, embedOrigins: page?.embedOrigins ?? [] };
    },
  };
}
