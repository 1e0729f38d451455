// Writes a warning into an agent's log when its configuration names a model that no provider lists. Such a configuration is
// accepted, since lists change.

import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { Catalogue } from "./catalogue.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "onConfigured" | "settings" | "credentials" | "log">;
  isOffered: Catalogue["isOffered"];
  log: Pick<Log, "error">;
}

/** Characters of a model's name in the warning. */
const MAX_SHOWN_CHARACTERS = 200;

/** Checks each new configuration after the request that stored it: lists of models may have to be fetched. */
export function warnAboutUnknownModels({ agents, isOffered, log }: Deps): void {
  async function check(agentId: string): Promise<void> {
    const { model } = await agents.settings(agentId);
    if (model === undefined) return;
    const keys = await agents.credentials.providerKeys(agentId);
    const ownKeyProviders = Object.keys(keys) as (keyof typeof keys)[];
    if (await isOffered(model, ownKeyProviders)) return;
    const text = `The configuration names the model "${model.slice(0, MAX_SHOWN_CHARACTERS)}", which no provider lists. It is used anyway; check the spelling if replies fail.`;
    agents.log(agentId, "warning", text, "ai");
  }

  agents.onConfigured((agentId) => {
    check(agentId).catch((error: unknown) => log.error("a configured model could not be checked", { agentId, error }));
  });
}
