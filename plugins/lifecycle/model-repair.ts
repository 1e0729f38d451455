// Replaces a configured model that no provider offers any more by the default one.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { setJsonMembers } from "../../src/kernel/util/json-text.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings" | "configText" | "saveRepairedConfig" | "credentials">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "isOffered" | "resolveTurnModel" | "defaultModels">;
}

/** The model in the configuration, before and after. */
export interface ModelRepair {
  from: string;
  to: string;
}

/** Replaces the configured model where no provider offers it; undefined where nothing had to be replaced. */
export type RepairModel = (agent: Pick<Agent, "id">) => Promise<ModelRepair | undefined>;

/** The form in which API responses and the agent's log name a repair. */
export const formatModelRepair = ({ from, to }: ModelRepair) => `healed:${from}->${to}`;

export function createModelRepair({ agents, ai }: Deps): RepairModel {
  return async ({ id }) => {
    const { model: old } = await agents.settings(id);
    if (old === undefined) return undefined;
    const keys = await agents.credentials.providerKeys(id);
    const ownProviders = Object.keys(keys) as (keyof typeof keys)[];
    if (await ai.isOffered(old, ownProviders)) return undefined;
    const { model_a: defaultModel } = ai.defaultModels();
    const resolved = await ai.resolveTurnModel({ choice: "model_a", keys });
    // Without any key only the demo model answers: name the default model, which will be used once there is a key.
    const replacement = resolved.demo
      ? `${defaultModel.provider}:${defaultModel.model}`
      : `${resolved.provider}:${resolved.modelId}`;
    if (replacement === old) return undefined;
    const repaired = setJsonMembers(await agents.configText(id), { model: JSON.stringify(replacement) });
    await agents.saveRepairedConfig(id, repaired);
    return { from: old, to: replacement };
  };
}
