// Finds the language of the sentences that an agent says itself, without its model: notices, answers to commands, questions.

import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { isLanguage, type Language } from "../../web/languages/languages.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";

export type { Language } from "../../web/languages/languages.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
}

/**
 * The language of a reader of this agent. `given`: what the platform says of them, such as `de-AT`; English if Berth does not speak it.
 * Where the platform says nothing, the language of the agent's owner, for which it may read rows: ask only where a sentence is said.
 */
export type ReaderLanguage = (agentId: string, given: string | null | undefined) => Promise<Language>;

export const createReaderLanguage =
  ({ agents, users }: Deps): ReaderLanguage =>
  async (agentId, given) => {
    const code = given?.toLowerCase().split(/[-_]/)[0] ?? "";
    if (isLanguage(code)) return code;
    // Somebody of another language reads English rather than that of the owner.
    if (code !== "") return "en";
    const agent = await agents.find(agentId);
    const locale = agent && (await users.byId(agent.userId))?.locale;
    return locale !== undefined && isLanguage(locale) ? locale : "en";
  };
