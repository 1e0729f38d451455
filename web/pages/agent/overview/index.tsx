// What an agent is and how it does: what needs its owner, figures, channels, the last conversations, and what to do next.

import { useAgentOverview } from "../../../data/agents.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { useAgent } from "../agent.tsx";
import { AgentFigures } from "./agent-figures.tsx";
import { AgentNeeds } from "./agent-needs.tsx";
import { Channels } from "./channels.tsx";
import { NextSteps } from "./next-steps.tsx";
import { RecentConversations } from "./recent-conversations.tsx";

export default function OverviewPage() {
  const { id } = useAgent();
  const { data: agent, error, refetch } = useAgentOverview(id);
  return (
    <div>
      {error && (
        <div className="mb-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {agent && <AgentNeeds agent={agent} />}
      <AgentFigures id={id} agent={agent} hasFailed={error !== null} />
      <div className="grid grid-cols-1 items-start gap-x-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <RecentConversations id={id} />
        <div>
          {agent && <NextSteps agent={agent} />}
          {(agent || !error) && <Channels id={id} agent={agent} />}
        </div>
      </div>
    </div>
  );
}
