// Tells an agent's owner about a call that was interrupted and is not repeated, so that nobody knows whether it worked.

import { translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { OwnerAlerts } from "../outbox/owner-alerts.ts";
import type { Language } from "../reader-language.ts";

interface Deps extends Pick<Kernel, "database" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "log">;
  ownerAlerts: Pick<OwnerAlerts, "noticeStatements">;
}

export function createInterruptedCallReport({ database, log, agents, ownerAlerts }: Deps) {
  /** Writes into the agent's log; to an owner who does not read the reply, also into their own chat. Never rejects. */
  return async ({ agentId, id: inboxId, byOwner, isGroup }: InboxEntry, tool: string): Promise<void> => {
    const text = `I was interrupted while I used ${tool}, so I don't know whether it worked. I have not repeated it.`;
    agents.log(agentId, "warning", text, "runtime", { turn: inboxId });
    const write = (language: Language) => ({
      body: translateText(
        "I was interrupted while I used {tool}, so I don't know whether it worked. I have not repeated it.",
        language,
        { tool },
      ),
    });
    if (byOwner && !isGroup) return;
    try {
      await database.write(await ownerAlerts.noticeStatements({ agentId, inboxId }, write));
    } catch (error) {
      log.error("an owner was not told about an interrupted call", { agentId, inboxId, error });
    }
  };
}
