// Tells people on channels once that an agent is paused: those whose message waits when an admin freezes it, and those who write
// while it is frozen. Each conversation is a row that is written before the notice is sent, so no one is told twice.
import { isChannelId } from "../../../channels/registry.ts";
import { pageText, translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { runtime as runtimePlugin } from "../../runtime/index.ts";
import type { OpenConnection, OpenConnections } from "../connections/open-connections.ts";

export const PAUSED_NOTICE = pageText("I am paused at the moment. Your message is kept, and I answer when I go on.");

/** Only while the agent is frozen: the rows are deleted when it goes on. */
const CLAIM = `INSERT INTO pause_notices (agent_id, platform, peer)
  SELECT id, ?2, ?3 FROM agents WHERE id = ?1 AND thawed_status IS NOT NULL ON CONFLICT DO NOTHING`;
const RELEASE = "DELETE FROM pause_notices WHERE agent_id = ?1 AND platform = ?2 AND peer = ?3";

interface Deps extends Pick<Kernel, "database"> {
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "readerLanguage" | "waitingConversations">;
  openConnections: Pick<OpenConnections, "find">;
  send(openConnection: OpenConnection, peer: string, text: string): Promise<boolean>;
}

export function createPauseNotices({ database, runtime, openConnections, send }: Deps) {
  /** Tells a conversation that the agent is paused, unless it was told before. */
  async function tell(
    openConnection: OpenConnection,
    peer: string,
    language: string | null | undefined,
  ): Promise<void> {
    const { agentId, channel } = openConnection.connection;
    const args = [agentId, channel, peer];
    const [claimed] = await database.write([{ sql: CLAIM, args }]);
    if (claimed?.rowsAffected !== 1) return;
    const text = translateText(PAUSED_NOTICE, await runtime.readerLanguage(agentId, language));
    if (!(await send(openConnection, peer, text))) await database.write([{ sql: RELEASE, args }]);
  }

  return {
    tell,

    /** Tells all whose message waits. */
    async tellWaiting(agentId: string): Promise<void> {
      for (const { platform, peer, language } of await runtime.waitingConversations(agentId)) {
        const openConnection = isChannelId(platform) ? await openConnections.find(agentId, platform) : undefined;
        if (openConnection) await tell(openConnection, peer, language);
      }
    },
  };
}

export type PauseNotices = ReturnType<typeof createPauseNotices>;
