// Agents as models: under /v1, `agent:<subdomain or id>` is a model of the agent's owner, and answers as the agent.
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { clientChats } from "../client-chats/index.ts";
import { openaiApi } from "../openai-api/index.ts";
import { runtime } from "../runtime/index.ts";
import { createAgentLookup } from "./agent-lookup.ts";

export const agentModels = plugin("agent-models", ({ kernel, use }) => {
  const runtimeService = use(runtime);
  const lookup = createAgentLookup({ agents: use(agents) });
  const { messages } = use(clientChats);
  const { callsOfTurns } = use(ai);
  const opener = once(async () => {
    const { createAnswers } = await import("./answers.ts");
    return createAnswers({ ...kernel, runtime: runtimeService, messages, lookup, callsOfTurns });
  });
  use(openaiApi).registerModelSource({ ...lookup.source, open: async (request) => (await opener())(request) });
  return { service: {} };
});
