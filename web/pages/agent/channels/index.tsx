// Where an agent can be reached: a card for each platform, and the page of one.

import { useParams } from "wouter";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { ChannelCard } from "./channel-card.tsx";
import { ChannelPage } from "./channel-page.tsx";
import { useChannelKinds, useConnections } from "./data.ts";

export default function ChannelsPage() {
  const agent = useAgent();
  const { channel } = useParams<{ channel?: string }>();
  const kinds = useChannelKinds();
  const connections = useConnections(agent.id);
  const error = kinds.error ?? connections.error;
  if (error && !(kinds.data && connections.data)) {
    const retry = () => {
      void kinds.refetch();
      void connections.refetch();
    };
    return <ErrorNote error={error} onRetry={retry} />;
  }
  if (!kinds.data || !connections.data) return <CardsSkeleton />;
  const rows = kinds.data.channels.map((kind) => ({
    kind,
    connection: connections.data.channels.find((one) => one.channel === kind.channel),
  }));
  const open = channel === undefined ? undefined : rows.find(({ kind }) => kind.channel === channel);
  if (open) return <ChannelPage key={open.kind.channel} {...open} />;
  return (
    <>
      <p className="mb-4 max-w-prose text-soft">
        {t("People write to your agent where they already are. It answers as a bot of its own on each platform.")}
      </p>
      <ul className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
        {rows.map(({ kind, connection }) => (
          <li key={kind.channel} className="flex">
            <ChannelCard kind={kind} connection={connection} />
          </li>
        ))}
      </ul>
    </>
  );
}

const CardsSkeleton = () => (
  <div role="status" className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
    <span className="sr-only">{t("Loading…")}</span>
    <Skeleton className="h-44" />
    <Skeleton className="h-44" />
    <Skeleton className="h-44" />
  </div>
);
