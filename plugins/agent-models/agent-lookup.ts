// Finds the agents of a caller by the names of their models.
import { AppError } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { type Agent, type agents as agentsPlugin, isAgentId } from "../agents/index.ts";
import type { ModelSource, SourceCaller, SourceModel } from "../openai-api/index.ts";

export const PREFIX = "agent:";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "findBySubdomain" | "list">;
}

export type AgentLookup = ReturnType<typeof createAgentLookup>;

export function createAgentLookup({ agents }: Deps) {
  async function find(name: string, caller: SourceCaller): Promise<Agent | undefined> {
    const agent = isAgentId(name) ? await agents.find(name) : await agents.findBySubdomain(name.toLowerCase());
    return agent?.userId === caller.userId ? agent : undefined;
  }

  const source: Omit<ModelSource, "open"> = {
    prefix: PREFIX,
    list: async ({ userId }) => (await agents.list(userId)).map(toModel),
    async find(name, caller) {
      const agent = await find(name, caller);
      return agent && toModel(agent);
    },
  };
  return {
    source,
    /** Throws 404 `MODEL_NOT_FOUND`, the same for a missing agent and for another user's. */
    async require(name: string, caller: SourceCaller): Promise<Agent> {
      const agent = await find(name, caller);
      if (agent) return agent;
      const model = JSON.stringify(`${PREFIX}${name.slice(0, 100)}`);
      throw new AppError(
        404,
        "MODEL_NOT_FOUND",
        `You have no agent that is the model ${model}. GET /v1/models lists yours.`,
      );
    },
  };
}

const toModel = ({ subdomain, name, createdAt }: Agent): SourceModel => ({
  id: `${PREFIX}${subdomain}`,
  name,
  createdAt,
});
