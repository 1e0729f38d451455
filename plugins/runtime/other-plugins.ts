// Registers the runtime with other plugins: what it does when an agent changes or goes, and what it knows of agents.
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { retentionSettings } from "../../src/kernel/retention/settings.ts";
import { estimateMemorySize } from "../../src/kernel/util/memory-size.ts";
import type { agentStats as agentStatsPlugin } from "../agent-stats/index.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { skills as skillsPlugin } from "../skills/index.ts";
import { createAgentRemoval } from "./backup/agent-removal.ts";
import { agentDeletedError } from "./errors.ts";
import type { InboundMessage, InboxEntry } from "./inbox/entries.ts";
import type { Inbox } from "./inbox/inbox.ts";
import { createTurnCounter } from "./inbox/turn-counter.ts";
import { turnsKind } from "./journal/journal-retention.ts";
import type { Suspensions } from "./journal/suspensions.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { LiveTurns } from "./live/live-turns.ts";
import type { Outbox } from "./outbox/outbox.ts";
import { messagesKind } from "./retention/message-retention.ts";
import { visitorsKind } from "./sessions/session-expiry.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { RunningTurns } from "./turn/running-turns.ts";

interface Deps extends Pick<Kernel, "database" | "config" | "log" | "retention"> {
  agents: ServiceOf<typeof agentsPlugin>;
  agentStats: ServiceOf<typeof agentStatsPlugin>;
  skills: Pick<ServiceOf<typeof skillsPlugin>, "onReminder">;
  inbox: Inbox;
  sessions: Sessions;
  lanes: Lanes<InboxEntry>;
  outbox: Outbox;
  runningTurns: RunningTurns;
  liveTurns: LiveTurns;
  suspensions: Pick<Suspensions, "resumeAllStatement">;
  holdTurns(agentId: string): () => void;
  endTurnsIfFrozen(agentId: string): Promise<boolean>;
}

export function joinOtherPlugins(deps: Deps): void {
  const { database, config, log, retention, agents, agentStats, skills } = deps;
  const { inbox, sessions, lanes, outbox, runningTurns, liveTurns, suspensions, holdTurns, endTurnsIfFrozen } = deps;

  skills.onReminder(async ({ agentId, sessionId, platform, peer, byOwner, text, taint, id }) => {
    const { statements } = await inbox.acceptStatements(
      {
        agentId,
        platform: platform as InboundMessage["platform"],
        platformMessageId: `reminder:${id}`,
        to: peer === "" ? { sessionId } : { peer },
        sender: { id: "reminder", name: "reminder" },
        byOwner,
        kind: "reminder",
        content: text,
        taint,
      },
      lanes.push,
    );
    return statements;
  });
  agentStats.setTurnHistoryLoader(createTurnCounter({ database }));
  agentStats.addMemoryGauge((agentId) => sessions.memoryBytes(agentId) + estimateMemorySize(lanes.entriesOf(agentId)));
  const kept = config.of(retentionSettings);
  retention.register(messagesKind({ database, sessions }, kept.messages));
  retention.register(visitorsKind({ database, sessions }));
  retention.register(turnsKind(database, kept.turns));
  // A change may have started the agent again.
  agents.onChange((agentId) => {
    lanes.wake(agentId);
    outbox.wake(agentId);
    // Few changes are freezes, and few agents have turns: only for those the row is read.
    if (!runningTurns.hasAgent(agentId)) return;
    endTurnsIfFrozen(agentId).catch((error: unknown) => log.error("turns could not be frozen", { agentId, error }));
  });
  // Requests for approval are deleted with the owner, so that the turns ask the next one.
  agents.onTransfer((agentId) => [suspensions.resumeAllStatement(agentId)]);
  agents.beforeDelete(createAgentRemoval({ database, agents, holdTurns }));
  agents.onDelete((agentId) => {
    lanes.drop(agentId);
    outbox.drop(agentId);
    runningTurns.cancelAgent(agentId);
    runningTurns.rejectWaiting(agentId, agentDeletedError());
    liveTurns.endAgent(agentId, agentDeletedError());
    // It may come back from another cell, with other sessions.
    sessions.invalidateAgent(agentId);
  });
}
