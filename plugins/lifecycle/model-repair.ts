// Legacy models: a configuration that names a model which no provider has any more is given one that answers.

import type { Config } from "../../src/kernel/config/config.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { setJsonMembers } from "../../src/kernel/util/json-text.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";

interface Deps {
  config: Pick<Config, "models">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings" | "configText" | "saveConfig" | "credentials">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "isOffered" | "resolveTurnModel">;
}

/** `healed:<old>-><new>` (contract §5) where the model was gone and another was put in; undefined where all is well. */
export type RepairModel = (agent: Pick<Agent, "id">) => Promise<string | undefined>;

export function createModelRepair({ config, agents, ai }: Deps): RepairModel {
  return async ({ id }) => {
    const { model: old } = await agents.settings(id);
    if (old === undefined) return undefined;
    const keys = await agents.credentials.providerKeys(id);
    const ownProviders = Object.keys(keys) as (keyof typeof keys)[];
    if (await ai.isOffered(old, ownProviders)) return undefined;
    const { model_a: defaultModel } = config.models;
    const resolved = await ai.resolveTurnModel({ choice: "model_a", keys });
    // Where only the demo answers for now, the one that a key would bring.
    const replacement = resolved.demo
      ? `${defaultModel.provider}:${defaultModel.model}`
      : `${resolved.provider}:${resolved.modelId}`;
    if (replacement === old) return undefined;
    await agents.saveConfig(id, setJsonMembers(await agents.configText(id), { model: JSON.stringify(replacement) }));
    return `healed:${old}->${replacement}`;
  };
}
