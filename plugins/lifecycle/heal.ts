// Legacy models: a configuration that names a model which no provider has any more is given one that answers.

import type { Config } from "../../src/config.ts";
import { spliceJson } from "../../src/json-text.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";

interface Deps {
  config: Pick<Config, "models">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings" | "configText" | "saveConfig" | "credentials">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "offers" | "resolveTurnModel">;
}

/** `healed:<old>-><new>` (contract §5) where the model was gone and another was put in; undefined where all is well. */
export type Heal = (agent: Pick<Agent, "id">) => Promise<string | undefined>;

export function createHeal({ config, agents, ai }: Deps): Heal {
  return async ({ id }) => {
    const { model: old } = await agents.settings(id);
    if (old === undefined) return undefined;
    const keys = await agents.credentials.providerKeys(id);
    const own = Object.keys(keys) as (keyof typeof keys)[];
    if (await ai.offers(old, own)) return undefined;
    const { model_a: usual } = config.models;
    const answers = await ai.resolveTurnModel({ choice: "model_a", keys });
    // Where only the demo answers for now, the one that a key would bring.
    const now = answers.demo ? `${usual.provider}:${usual.model}` : `${answers.provider}:${answers.modelId}`;
    if (now === old) return undefined;
    await agents.saveConfig(id, spliceJson(await agents.configText(id), { model: JSON.stringify(now) }));
    return `healed:${old}->${now}`;
  };
}
