// The last conversations of an agent, on all channels.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { ButtonLink } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { PlatformIcon } from "../../../parts/values/platform.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t, tn } from "../../../viewer/language.ts";
import { oneLine, type Titled, titleOf } from "../conversations.ts";

interface Conversation extends Titled {
  id: string;
  preview: string;
  messageCount: number;
  /** Messages that have no reply yet. */
  waiting: number;
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
        {data?.conversations.map((conversation) => (
          <li key={conversation.id} className="border-edge border-b py-2 first:pt-0 last:border-b-0 last:pb-0">
            <Link href={path`/agents/${id}/chat/${conversation.id}`} className="group flex min-w-0 gap-2.5">
              <PlatformIcon id={conversation.platform} className="mt-1 size-4 text-soft" />
              <span className="min-w-0 flex-1">
                <span className="flex items-baseline gap-3">
                  <bdi className="min-w-0 flex-1 truncate font-medium group-hover:text-sea">
                    {titleOf(conversation)}
                  </bdi>
                  <span className="text-soft text-sm">
                    <When at={conversation.lastActivityAt} as="moment" />
                  </span>
                </span>
                <span className="flex items-baseline gap-3 text-soft text-sm">
                  <bdi className="min-w-0 flex-1 truncate">{oneLine(conversation.preview)}</bdi>
                  <span className="shrink-0">
                    {tn("{n} message", "{n} messages", conversation.messageCount + conversation.waiting)}
                  </span>
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
