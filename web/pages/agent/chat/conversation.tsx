// A conversation: its messages with what goes on in it, and the place to write, where it is held here.

import { useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Lock } from "lucide-react";
import { type ReactNode, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { api, path } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { useEvents } from "../../../api/events.ts";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { lazyDialog } from "../../../parts/lazy.tsx";
import { VirtualFeed } from "../../../parts/lists/virtual-feed.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError } from "../../../parts/toast.tsx";
import { PlatformIcon, platformName } from "../../../parts/values/platform.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { dayOf, formatTime, t, tn } from "../../../viewer/language.ts";
import { titleOf } from "../conversations.ts";
import {
  type ConversationView,
  type MessageView,
  refreshConversation,
  useApprovals,
  useConversation,
  useMessages,
} from "./chat-data.ts";
import { Composer } from "./composer/composer.tsx";
import { type FeedItem, feedItems, keyOfMessage, openTurn } from "./feed-items.ts";
import { type LiveTurn, useLiveTurn } from "./live-turn.ts";
import { Approvals } from "./messages/approvals.tsx";
import { LiveReply, StoppedReply } from "./messages/live-reply.tsx";
import { Column, NoReply, PersonMessage, Reply, wordsOf } from "./messages/message.tsx";
import { NotSent } from "./messages/not-sent.tsx";
import { useSending } from "./sending.ts";
import { Welcome } from "./welcome.tsx";

const TurnPanel = lazyDialog(() => import("./messages/turn-panel.tsx"));

const NONE: readonly MessageView[] = [];
const showFailure = (error: unknown) => showError(messageOf(error));
const keyOfItem = ({ key }: FeedItem) => key;

interface Props {
  agent: { id: string; name: string; status: string };
  /** Undefined for one that is about to begin. */
  id: string | undefined;
  onBegun: (id: string) => void;
}

const MAX_WRITTEN = 20;
const DAY_MS = 86_400_000;

export function Conversation({ agent, id, onBegun }: Props) {
  const client = useQueryClient();
  const conversation = useConversation(agent.id, id);
  const { data, error, refetch, loadOlder, loadUntil } = useMessages(agent.id, id);
  const messages = data?.messages ?? NONE;
  const sending = useSending(agent.id, id, onBegun);
  const running = openTurn(messages);
  const live = useLiveTurn(agent.id, running, () => {
    if (id !== undefined) void refreshConversation(client, agent.id, id);
  });
  const written = useWritten(live);
  const hasRequests =
    (live?.approvals ?? 0) > 0 ||
    messages.some(({ state, steps }) => state === "waiting" || steps.some(({ ok }) => !ok));
  // A turn that waited goes on with a decision, wherever that was made.
  useEvents(["approval."], ({ data: { agentId } }) => {
    if (agentId === agent.id && id !== undefined) void refreshConversation(client, agent.id, id);
  });
  const approvals = useApprovals(agent.id, hasRequests);
  const [panelTurn, setPanelTurn] = useParameter("turn");
  // The message that a search has found.
  const at = Number(useParameter("at")[0]) || undefined;
  const found = at === undefined ? undefined : messages.find(({ seq }) => seq === at);
  const find = useEffectEvent((seq: number, signal: AbortSignal) => loadUntil(seq, signal).catch(showFailure));
  const isLoaded = data !== undefined;
  useEffect(() => {
    const left = new AbortController();
    if (at !== undefined && isLoaded) void find(at, left.signal);
    return () => left.abort();
  }, [at, isLoaded]);
  const [wanted, setWanted] = useState<{ text: string }>();

  const platform = conversation.data?.platform ?? (id === undefined ? "web" : undefined);
  const canWrite = platform === "web";
  const stop = async () => {
    if (running === undefined) return;
    try {
      await api.post(path`/api/agents/${agent.id}/turns/${running}/cancel`);
    } catch (caught) {
      // It was over a moment before.
      if (!(caught instanceof ApiError && caught.code === "ALREADY_SETTLED")) showError(messageOf(caught));
    }
  };
  const lastReply = messages.findLast(({ role }) => role === "assistant");
  const isQuiet = canWrite && running === undefined;
  const repeat = (message: MessageView | undefined) =>
    isQuiet && message
      ? () => sending.send({ text: wordsOf(message), attachments: message.attachments, voice: [] })
      : undefined;
  /** What a turn has asked for stands below its question, which is the first thing that it has said. */
  const approvalsOf = (turnId: string, message?: MessageView) => {
    const first = messages.find((one) => one.role === "assistant" && one.turnId === turnId);
    return first === message && <Approvals agentId={agent.id} approvals={approvals.get(turnId) ?? []} />;
  };

  const isKept = (turnId: string) => messages.some((one) => one.role === "assistant" && one.turnId === turnId);
  const renderMessage = (message: MessageView) => {
    if (message.role === "assistant") {
      const question = messages.find(({ id: of }) => of === message.turnId);
      return (
        <Reply
          agentId={agent.id}
          name={agent.name}
          message={message}
          onOpenTurn={() => setPanelTurn(message.turnId)}
          onRetry={message === lastReply ? repeat(question) : undefined}
        >
          {approvalsOf(message.turnId, message)}
        </Reply>
      );
    }
    const onEdit = canWrite && message.byOwner ? () => setWanted({ text: wordsOf(message) }) : undefined;
    const cut = written.get(message.turnId);
    return (
      <>
        <PersonMessage agentId={agent.id} message={message} onEdit={onEdit}>
          <NoReply state={message.state} error={message.error} onRetry={repeat(message)} />
        </PersonMessage>
        {cut && message.state === "cancelled" && !isKept(message.turnId) && (
          <StoppedReply name={agent.name} turn={cut} />
        )}
      </>
    );
  };
  const renderItem = (item: FeedItem): ReactNode => {
    if (item.type === "day") return <Day at={item.at} />;
    if (item.type === "message" && item.message === found)
      return (
        <div aria-current="true" className="bg-wash">
          {renderMessage(item.message)}
        </div>
      );
    if (item.type === "message") return renderMessage(item.message);
    if (item.type === "unsent") return <NotSent agentId={agent.id} message={item.message} {...sending} />;
    return (
      <LiveReply agentId={agent.id} name={agent.name} turn={item.turn}>
        {approvalsOf(item.turn.turnId)}
      </LiveReply>
    );
  };

  const isWhole = data?.before == null;
  const items = useMemo(
    () => feedItems(messages, isWhole, live, sending.unsent),
    [messages, isWhole, live, sending.unsent],
  );
  const isNew = id === undefined && items.length === 0;
  return (
    <section aria-label={t("Conversation")} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <Head agentId={agent.id} conversation={conversation.data} isNew={id === undefined} />
      {error && !data && (
        <Column className="py-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </Column>
      )}
      {isNew ? (
        <Welcome name={agent.name} onSuggest={(text) => setWanted({ text })} />
      ) : !data && id !== undefined && !error ? (
        <Loading />
      ) : (
        <VirtualFeed
          label={t("Messages of this conversation")}
          items={items}
          estimate={88}
          keyOf={keyOfItem}
          renderItem={renderItem}
          onStart={() => void loadOlder().catch(showFailure)}
          target={found && keyOfMessage(found)}
        />
      )}
      <Announcer name={agent.name} live={live} />
      {agent.status === "stopped" && canWrite && <StoppedNote />}
      {canWrite ? (
        <Composer
          agentId={agent.id}
          agentName={agent.name}
          draftKey={`${agent.id} ${id ?? "new"}`}
          wanted={wanted}
          isRunning={running !== undefined}
          onSend={(outgoing) => sending.send(outgoing)}
          onStop={() => void stop()}
        />
      ) : (
        platform !== undefined && <Elsewhere platform={platform} />
      )}
      {panelTurn && <TurnPanel agentId={agent.id} turnId={panelTurn} onClose={() => setPanelTurn("")} />}
    </section>
  );
}

interface HeadProps {
  agentId: string;
  conversation: ConversationView | undefined;
  isNew: boolean;
}

const Head = ({ agentId, conversation, isNew }: HeadProps) => (
  <header className="flex min-h-12 items-center gap-2 border-edge border-b px-3 py-1.5">
    <Link
      href={`/agents/${agentId}/chat`}
      aria-label={t("All conversations")}
      title={t("All conversations")}
      className="grid size-8 shrink-0 place-items-center rounded-round text-soft hover:bg-hover hover:text-ink md:hidden"
    >
      <ArrowLeft className="size-4" aria-hidden="true" />
    </Link>
    {conversation && <PlatformIcon id={conversation.platform} className="size-4 text-soft" />}
    <div className="min-w-0">
      <h2 className="truncate font-semibold">
        <bdi>{isNew ? t("New conversation") : conversation ? titleOf(conversation) : "…"}</bdi>
      </h2>
      {conversation && (
        <p className="truncate text-soft text-xs">
          {platformName(conversation.platform)} ·{" "}
          {tn("{n} message", "{n} messages", conversation.messageCount + conversation.waiting)}
        </p>
      )}
    </div>
  </header>
);

const Day = ({ at }: { at: number }) => {
  const now = Date.now();
  const isLongAgo = now - at > 300 * DAY_MS;
  const words =
    dayOf(at) === dayOf(now)
      ? t("Today")
      : dayOf(at) === dayOf(now - DAY_MS)
        ? t("Yesterday")
        : formatTime(at, { weekday: "long", day: "numeric", month: "long", ...(isLongAgo && { year: "numeric" }) });
  return (
    <Column className="py-2">
      <p className="flex items-center gap-3 text-soft text-xs before:h-px before:flex-1 before:bg-edge after:h-px after:flex-1 after:bg-edge">
        {words}
      </p>
    </Column>
  );
};

const Loading = () => (
  <Column className="flex flex-1 flex-col justify-end gap-4 py-4">
    <span role="status" className="sr-only">
      {t("Loading…")}
    </span>
    <Skeleton className="h-10 w-2/3 self-end" />
    <Skeleton className="h-24 w-full" />
    <Skeleton className="h-10 w-1/2 self-end" />
    <Skeleton className="h-32 w-full" />
  </Column>
);

/** Says to screen readers that a reply is on its way and that it is there, not each word of it. */
/**
 * What the last turns had written while they ran, by their ids. The reply that a person stops stays on the page until the server
 * gives what it has kept of it.
 */
function useWritten(live: LiveTurn | undefined): ReadonlyMap<string, LiveTurn> {
  const { current } = useRef(new Map<string, LiveTurn>());
  if (live && live.text !== "") {
    current.set(live.turnId, live);
    for (const turnId of current.keys()) if (current.size > MAX_WRITTEN) current.delete(turnId);
  }
  return current;
}

const Announcer = ({ name, live }: { name: string; live: LiveTurn | undefined }) => (
  <p role="status" className="sr-only">
    {live?.status === "running" && t("{name} is writing.", { name })}
    {live?.status === "done" && t("{name} has answered.", { name })}
  </p>
);

const StoppedNote = () => (
  <Column className="pt-2">
    <Status tone="idle">{t("This agent is stopped, so it does not answer. Start it to go on.")}</Status>
  </Column>
);

const Elsewhere = ({ platform }: { platform: string }) => (
  <Column className="py-3">
    <p className="flex items-start gap-2 rounded-large border border-edge bg-card px-3 py-2 text-soft text-sm">
      <Lock className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      {t(
        "This conversation is held on {platform}. You read along here; whoever writes there would not see what you wrote here.",
        { platform: platformName(platform) },
      )}
    </p>
  </Column>
);
