// Finds the agents of a caller for the tools.
import { notFound } from "../../../src/kernel/errors.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import type { McpCaller } from "../access.ts";

/** Agents with a tool of their own; the others are reached by `ask_agent`. */
export const MAX_AGENT_TOOLS = 40;
const MAX_LISTED = 100;

type Agents = Pick<ServiceOf<typeof agentsPlugin>, "find" | "findBySubdomain" | "listPage">;
export type ListedAgent = Awaited<ReturnType<Agents["listPage"]>>["agents"][number];
export type AgentLookup = ReturnType<typeof createAgentLookup>;

export function createAgentLookup(agents: Agents) {
  const page = ({ userId }: McpCaller, limit: number, offset: number, query?: string) =>
    agents.listPage({ userId, query, needing: [], order: "newest", limit, offset });

  return {
    /** The newest ones, which have tools of their own, and the number of all. */
    withTools: (caller: McpCaller) => page(caller, MAX_AGENT_TOOLS, 0),
    search: (caller: McpCaller, query: string | undefined, offset: number) => page(caller, MAX_LISTED, offset, query),

    /** An agent of the caller's by its address or its id. Throws 404, for agents of others too. */
    async require(caller: McpCaller, given: string): Promise<Agent> {
      const agent = (await agents.findBySubdomain(given)) ?? (await agents.find(given));
      if (agent?.userId === caller.userId) return agent;
      throw notFound(
        `You have no agent "${given.slice(0, 80)}". list_agents shows those that you have.`,
        "AGENT_NOT_FOUND",
      );
    },
  };
}
