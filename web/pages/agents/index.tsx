// The list of the caller's agents.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../../app/api.ts";
import { useLive } from "../../app/events.ts";
import { t, tn } from "../../app/language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Page } from "../../parts/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { When } from "../../parts/when.tsx";

interface Agent {
  id: string;
  name: string;
  status: string;
  updatedAt: string;
}

const KEY = ["agents"] as const;

export default function AgentsPage() {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<{ agents: Agent[] }>("/api/agents"),
  });
  useLive(KEY, ["agent."]);
  return (
    <Page title={t("Agents")} intro={data && tn("{n} agent", "{n} agents", data.agents.length)}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-40" />}
      {data?.agents.length === 0 && (
        <EmptyState title={t("No agent yet")}>
          {t("An agent answers in a browser, in Telegram, Discord and WhatsApp.")}
        </EmptyState>
      )}
      {data && (
        <VirtualList
          label={t("Agents")}
          items={data.agents}
          estimate={48}
          keyOf={({ id }) => id}
          renderItem={(agent) => (
            <Link href={`/agents/${agent.id}`} className="flex gap-3 border-edge border-b py-2">
              {agent.name} <When at={agent.updatedAt} />
            </Link>
          )}
        />
      )}
    </Page>
  );
}
