// Finds the names of an account's agents for reports.

import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";

/** Agents that are deleted or belong to another account by now have no name here. */
export function createAgentNames(agents: Pick<ServiceOf<typeof agentsPlugin>, "find">) {
  async function nameOf(userId: string, agentId: string): Promise<string | undefined> {
    const agent = await agents.find(agentId);
    return agent?.userId === userId ? agent.name : undefined;
  }
  return {
    nameOf,
    async namesOf(userId: string, ids: readonly string[]): Promise<Map<string, string>> {
      const found = await Promise.all(ids.map(async (id) => [id, await nameOf(userId, id)] as const));
      return new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
    },
  };
}
