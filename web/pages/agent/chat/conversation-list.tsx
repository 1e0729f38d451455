// The conversations of all channels, with a search that is part of the address.

import { MessageSquarePlus } from "lucide-react";
import { useEffect } from "react";
import { Link } from "wouter";
import { path, withQuery } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { VirtualBox } from "../../../parts/lists/virtual-list.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { PlatformIcon, platformName } from "../../../parts/values/platform.tsx";
import { When } from "../../../parts/values/when.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import { oneLine, titleOf } from "../conversations.ts";
import { type ConversationView, useConversations } from "./chat-data.ts";
import { useSeen } from "./seen.ts";

const PLATFORMS = ["web", "channel_a", "channel_b", "channel_c", "channel_e", "api", "public", "agent"] as const;

interface Props {
  agentId: string;
  selected: string | undefined;
}

export function ConversationList({ agentId, selected }: Props) {
  const [query, setQuery] = useParameter("query");
  const [platform, setPlatform] = useParameter("platform");
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useConversations(
    agentId,
    query,
    platform,
  );
  const { isUnseen, markSeen } = useSeen(agentId);
  const conversations = data?.pages.flatMap((page) => page.conversations) ?? [];
  const isComplete = data?.pages.at(-1)?.complete ?? true;
  const open = conversations.find(({ id }) => id === selected);
  useEffect(() => {
    if (open) markSeen(open.id, open.lastActivityAt);
  }, [open, markSeen]);
  // What is searched for stays in the address while one reads the results, each at the message that was found.
  const addressOf = ({ id, match }: ConversationView) =>
    withQuery(path`/agents/${agentId}/chat/${id}`, {
      query: query || undefined,
      platform: platform || undefined,
      at: match?.seq,
    });

  return (
    <nav aria-label={t("Conversations")} className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-col gap-2 border-edge border-b p-3">
        <Link
          href={`/agents/${agentId}/chat/new`}
          className="inline-flex min-h-8 items-center justify-center gap-1.5 rounded-round border border-line bg-card px-3 py-1 font-medium hover:bg-hover [&_svg]:size-4"
        >
          <MessageSquarePlus aria-hidden="true" />
          {t("New conversation")}
        </Link>
        <SearchField label={t("Search conversations")} value={query} onSearch={setQuery} />
        <SelectField
          label={t("Where")}
          isLabelHidden
          value={platform}
          onChange={({ target }) => setPlatform(target.value)}
          className="py-1"
        >
          <option value="">{t("All channels")}</option>
          {PLATFORMS.map((id) => (
            <option key={id} value={id}>
              {platformName(id)}
            </option>
          ))}
        </SelectField>
      </div>
      {error && !data && (
        <div className="p-3">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!data && !error && <Loading />}
      {data && conversations.length === 0 && isComplete && <Nothing isSearch={query !== "" || platform !== ""} />}
      {conversations.length > 0 && (
        <VirtualBox
          label={t("Conversations")}
          items={conversations}
          estimate={62}
          keyOf={({ id }) => id}
          onEnd={() => {
            if (hasNextPage && !isFetchingNextPage && isComplete) void fetchNextPage();
          }}
          renderItem={(conversation) => (
            <Row
              conversation={conversation}
              href={addressOf(conversation)}
              isSelected={conversation.id === selected}
              isUnseen={conversation.id !== selected && isUnseen(conversation.id, conversation.lastActivityAt)}
            />
          )}
        />
      )}
      {!isComplete && hasNextPage && (
        <div className="flex flex-col items-start gap-2 border-edge border-t p-3 text-sm">
          <p className="text-soft">{t("Only the most recent conversations were searched so far.")}</p>
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t("Search older ones")}
          </Button>
        </div>
      )}
    </nav>
  );
}

interface RowProps {
  conversation: ConversationView;
  href: string;
  isSelected: boolean;
  isUnseen: boolean;
}

function Row({ conversation, href, isSelected, isUnseen }: RowProps) {
  const { platform, preview, previewRole, waiting, lastActivityAt, match, topic } = conversation;
  const words = match?.text || preview;
  return (
    <Link
      href={href}
      aria-current={isSelected ? "page" : undefined}
      className="flex gap-2.5 border-edge border-b px-3 py-2 -outline-offset-2 hover:bg-hover aria-[current]:bg-wash"
    >
      <PlatformIcon id={platform} className="mt-0.5 size-4 text-soft" />
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <bdi className={`min-w-0 flex-1 truncate text-left ${isUnseen ? "font-semibold" : "font-medium"}`}>
            {titleOf(conversation)}
          </bdi>
          <span className="shrink-0 text-soft text-xs">
            <When at={lastActivityAt} as="moment" />
          </span>
        </span>
        <span className="flex items-center gap-1.5 text-soft text-sm">
          <span className="min-w-0 flex-1 truncate">
            {previewRole === "assistant" && !match?.text && `${t("Reply:")} `}
            <bdi>{oneLine(words)}</bdi>
          </span>
          {waiting > 0 && <Mark tone="busy" label={t("A reply is on its way")} />}
          {isUnseen && waiting === 0 && <Mark tone="new" label={t("New")} />}
        </span>
        {topic !== null && platform !== "api" && <span className="block truncate text-soft text-xs">{topic}</span>}
      </span>
    </Link>
  );
}

const Mark = ({ tone, label }: { tone: "busy" | "new"; label: string }) => (
  <span
    role="img"
    aria-label={label}
    title={label}
    className={`size-2 shrink-0 rounded-full ${tone === "new" ? "bg-fill" : "animate-pulse border-2 border-sea"}`}
  />
);

const Loading = () => (
  <div role="status" className="flex flex-col gap-3 p-3">
    <span className="sr-only">{t("Loading…")}</span>
    {[0, 1, 2, 3, 4].map((row) => (
      <Skeleton key={row} className="h-10" />
    ))}
  </div>
);

const Nothing = ({ isSearch }: { isSearch: boolean }) => (
  <div className="p-3">
    {isSearch ? (
      <EmptyState title={t("Nothing found")}>{t("Search for other words, or in all channels.")}</EmptyState>
    ) : (
      <EmptyState title={t("No conversation yet")}>
        {t("What you and others say to this agent, here and in its channels, is listed here.")}
      </EmptyState>
    )}
  </div>
);
