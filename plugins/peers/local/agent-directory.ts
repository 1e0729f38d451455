// Finds the agents that an agent may write to: those of its owner, and those of others that talk to visitors.
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import type { auth } from "../../auth/index.ts";
import type { publicPage as publicPagePlugin } from "../../public-page/index.ts";
import { type Audience, toolDeclined } from "../../skills/index.ts";

type Agents = Pick<ServiceOf<typeof agentsPlugin>, "find" | "findBySubdomain" | "listPage" | "views">;

interface Deps {
  agents: Agents;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  publicPage: Pick<ServiceOf<typeof publicPagePlugin>, "publicPageOf" | "enabledAmong">;
}

/** The turn from which an agent is looked for. */
type Asking = Pick<Audience, "byOwner"> & { agentId: string };

/** Agents that a prompt names. */
const MAX_NAMED = 20;

export type AgentDirectory = ReturnType<typeof createAgentDirectory>;

export function createAgentDirectory({ agents, users, publicPage }: Deps) {
  /** In a conversation with others an agent reaches only what these could reach themselves. */
  async function reachable({ byOwner }: Asking, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return byOwner ? new Set(ids) : publicPage.enabledAmong(ids);
  }

  async function ofOwner(userId: string, query?: string) {
    const page = { userId, query, needing: [], order: "newest", limit: MAX_NAMED + 1, offset: 0 } as const;
    return (await agents.listPage(page)).agents;
  }

  return {
    /** The public address, which names an agent over all hosts. */
    urlOf: (agent: Agent) => agents.views.detail(agent, "").url,

    async requireSelf(agentId: string): Promise<Agent> {
      const agent = await agents.find(agentId);
      if (!agent) throw toolDeclined("This agent was deleted.");
      return agent;
    },

    /** Other agents of the same owner, the newest ones first. */
    async colleagues(asking: Asking): Promise<{ name: string; subdomain: string }[]> {
      const self = await agents.find(asking.agentId);
      if (!self) return [];
      const others = (await ofOwner(self.userId)).filter(({ id }) => id !== asking.agentId);
      const admitted = await reachable(
        asking,
        others.map(({ id }) => id),
      );
      return others.filter(({ id }) => admitted.has(id)).slice(0, MAX_NAMED);
    },

    /** One of them, by address, id or exact name. */
    async requireColleague(asking: Asking, self: Agent, given: string): Promise<Agent> {
      const name = given.trim();
      const direct = (await agents.findBySubdomain(name)) ?? (await agents.find(name));
      const named = direct ? [] : (await ofOwner(self.userId, name)).filter((one) => one.name.trim() === name);
      const [only] = named;
      if (named.length > 1) throw toolDeclined(`Several agents are called "${name}". Give the address of one.`);
      const found = direct ?? (only && (await agents.find(only.id)));
      const isColleague = found?.userId === self.userId && found.id !== self.id;
      if (found && isColleague && (await reachable(asking, [found.id])).has(found.id)) return found;
      throw toolDeclined(`There is no such agent: "${name.slice(0, 80)}".`);
    },

    /** An agent of somebody else that talks to visitors, by its public address or the name in it. */
    async requirePublic(self: Agent, given: string): Promise<Agent> {
      const found = await agents.findBySubdomain(given.trim()).then((one) => one ?? findByUrl(given.trim()));
      const isOpen =
        found !== undefined &&
        found.id !== self.id &&
        (await publicPage.publicPageOf(found.id)).enabled &&
        (await users.byId(found.userId))?.disabledAt === null;
      if (found && isOpen) return found;
      throw toolDeclined("There is no agent at this address that talks to others.");
    },
  };

  async function findByUrl(text: string): Promise<Agent | undefined> {
    const url = URL.parse(text);
    if (!url) return undefined;
    const [, label = ""] = /^\/a\/([a-z0-9-]{1,63})\/?$/.exec(url.pathname) ?? [];
    const found = await agents.findBySubdomain(label || (url.hostname.split(".")[0] ?? ""));
    return found && sameAddress(agents.views.detail(found, "").url, url) ? found : undefined;
  }
}

const sameAddress = (own: string, { origin, pathname }: URL): boolean => {
  const one = new URL(own);
  return one.origin === origin && one.pathname.replace(/\/$/, "") === pathname.replace(/\/$/, "");
};
