// The last conversations of an agent, on all channels.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, path } from "../../../app/api.ts";
import { useLive } from "../../../app/events.ts";
import { t, tn } from "../../../app/language.ts";
import { ButtonLink } from "../../../parts/button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { When } from "../../../parts/when.tsx";

interface Conversation {
  id: string;
  name: string;
  title: string;
  preview: string;
  messageCount: number;
  lastActivityAt: string;
}

const SHOWN = 6;

export function RecentConversations({ id }: { id: string }) {
  const key = ["agent", id, "recent-conversations"] as const;
  useLive(key, ["agent.message"], ({ data }) => data.agentId === id);
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: () => api.get<{ conversations: Conversation[] }>(path`/api/agents/${id}/conversations`, { limit: SHOWN }),
  });
  return (
    <Section
      title={t("Last conversations")}
      actions={
        <Link href={`/agents/${id}/chat`} className="text-sea underline">
          {t("All conversations")}
        </Link>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-40" />}
      {data?.conversations.length === 0 && (
        <EmptyState
          title={t("Nobody has talked to it yet")}
          action={
            <ButtonLink look="primary" href={`/agents/${id}/chat`}>
              {t("Say hello")}
            </ButtonLink>
          }
        >
          {t("Try it here in the browser first. What people write on its channels appears here, too.")}
        </EmptyState>
      )}
      <ul>
        {data?.conversations.map(({ id: conversationId, name, title, preview, messageCount, lastActivityAt }) => (
          <li key={conversationId} className="border-edge border-b py-2 first:pt-0 last:border-b-0 last:pb-0">
            <Link href={path`/agents/${id}/chat/${conversationId}`} className="group block min-w-0">
              <span className="flex items-baseline gap-3">
                <span className="min-w-0 flex-1 truncate font-medium group-hover:text-sea">
                  {title || t("New conversation")}
                </span>
                <span className="text-soft text-sm">
                  <When at={lastActivityAt} />
                </span>
              </span>
              <span className="flex items-baseline gap-3 text-soft text-sm">
                <span className="min-w-0 flex-1 truncate">{preview}</span>
                <span className="max-w-[50%] shrink-0 truncate">
                  {name || t("You")} · {tn("{n} message", "{n} messages", messageCount)}
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
