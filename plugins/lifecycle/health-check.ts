// The health check of the built-in runtime: loads what an agent's next turn needs, and fails where that fails.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { Runtime } from "./runtime-registry.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings" | "credentials">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "chooseModel" | "sessions">;
}

/** Reads the configuration, opens the credentials, chooses the model, finds the active session. Calls no provider. */
export function createHealthCheck({ agents, runtime }: Deps): Runtime["check"] {
  return async (agent) => {
    await agents.settings(agent.id);
    await agents.credentials.providerKeys(agent.id);
    await runtime.chooseModel(agent);
    await runtime.sessions.findActive(agent.id);
  };
}
