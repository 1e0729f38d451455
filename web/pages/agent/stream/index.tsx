// The live stream of an agent: how to send video to it, whether it is on the air, and what viewers see.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { api } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { OutsideButton } from "../../../parts/outside-link.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, withUndo } from "../../../parts/toast.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatNumber, rich, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type Stream, streamKeyOf, streamPath } from "./data.ts";
import { EncoderSection } from "./encoder-section.tsx";

export default function StreamPage() {
  const agent = useAgent();
  const queries = useQueryClient();
  const queryKey = streamKeyOf(agent.id);
  useLive(queryKey, ["stream."], ({ data }) => data.agentId === agent.id);
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: () => api.get<Stream>(streamPath(agent.id), { orNone: 1 }),
    // The bit rate has no event of its own.
    refetchInterval: ({ state }) => (state.data?.state === "active" ? 5_000 : false),
  });
  const create = useMutation({
    mutationFn: () => api.put<Stream>(streamPath(agent.id), {}),
    onSuccess: (made) => void queries.setQueryData(queryKey, made),
    onError: (failure) => showError(messageOf(failure)),
  });
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) {
    return (
      <div role="status">
        <span className="sr-only">{t("Loading…")}</span>
        <Skeleton className="h-64" />
      </div>
    );
  }
  if (data.state === "none") {
    return (
      <EmptyState
        title={t("No live stream yet")}
        action={
          <Button look="primary" isBusy={create.isPending} onClick={() => create.mutate()}>
            {t("Make a live stream")}
          </Button>
        }
      >
        {t(
          "Send video from OBS or another program, and everybody with the address can watch it in a browser. Nothing else is needed: Berth receives the video and shows it.",
        )}
      </EmptyState>
    );
  }
  if (data.liveStreamId === null) {
    return (
      <EmptyState title={t("Live streams are switched off here")}>
        {t("The operator of this Berth has switched them off (STREAM_DRIVER).")}
      </EmptyState>
    );
  }
  return <StreamSections stream={data} liveStreamId={data.liveStreamId} />;
}

function StreamSections({ stream, liveStreamId }: { stream: Stream; liveStreamId: string }) {
  const agent = useAgent();
  const queries = useQueryClient();
  const queryKey = streamKeyOf(agent.id);
  const { playbackUrl } = stream;
  const remove = () =>
    withUndo(
      t("The live stream is removed"),
      () => {
        queries.setQueryData(queryKey, { ...stream, state: "none" });
        return () => queries.setQueryData(queryKey, stream);
      },
      async () => {
        await api.delete(streamPath(agent.id));
        await queries.invalidateQueries({ queryKey });
      },
    );
  return (
    <>
      <Section title={t("Live stream")} actions={<StreamState stream={stream} />}>
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
          <iframe
            src={`/live/${encodeURIComponent(liveStreamId)}`}
            title={t("What viewers see")}
            loading="lazy"
            allow="autoplay; fullscreen"
            className="aspect-video w-full rounded-large border border-edge bg-[#000]"
          />
          {playbackUrl && (
            <div className="flex flex-col items-start gap-3">
              <p className="font-medium">{t("Address for viewers")}</p>
              <CopyValue value={playbackUrl} label={t("Copy the address")} />
              <OutsideButton href={playbackUrl}>
                <ExternalLink aria-hidden="true" />
                {t("Open the player")}
              </OutsideButton>
              <p className="text-soft text-sm">
                {t("Everybody who knows the address can watch. It begins by itself when the stream is on the air.")}
              </p>
            </div>
          )}
        </div>
      </Section>
      <EncoderSection stream={stream} />
      <Section
        title={t("Remove")}
        hint={t("The addresses and the key stop working. You can make another stream later.")}
      >
        <Button look="danger" onClick={remove}>
          {t("Remove the live stream")}
        </Button>
      </Section>
    </>
  );
}

function StreamState({ stream: { state, since, bitrate } }: { stream: Stream }) {
  if (state === "unavailable") return <Status tone="warn">{t("Video can't be received right now")}</Status>;
  const time = since && <When at={since} as="moment" />;
  if (state === "idle") {
    return (
      <Status tone="idle">
        {time
          ? rich("Off the air since <time>now</time>", { time: (_, key) => <span key={key}>{time}</span> })
          : t("Off the air")}
      </Status>
    );
  }
  const rate = bitrate === null ? "" : `${formatNumber(bitrate / 1e6, { maximumFractionDigits: 1 })} Mbit/s`;
  return (
    <Status tone="good">
      {rich("On the air since <time>now</time>", { time: (_, key) => <span key={key}>{time}</span> })}{" "}
      {rate && `· ${rate}`}
    </Status>
  );
}
