// Holds the streams with a publisher or recent segments, enforces the host's limits, and connects publishers to playlists.
import { join } from "node:path";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Admission, LiveStatus, OwnedStream, StreamHooks } from "../stream-driver.ts";
import { createHlsPlaylist, type HlsPlaylist } from "./hls-playlist.ts";
import type { Publisher, PublisherEvents, ReadySegment } from "./publisher.ts";

export interface Broadcasts {
  /** The events of a new connection. `self` is called later, so it may return a publisher that is created from them. */
  publisherEventsFor(self: () => Publisher, onRefused: (reason: string) => void): PublisherEvents;
  liveStatusOf(id: string): LiveStatus | undefined;
  publishedStreams(): readonly OwnedStream[];
  end(id: string, reason: string): Promise<void>;
  fileResponse(id: string, name: string): Response | undefined;
  /** Ends all streams. */
  close(reason: string): Promise<void>;
}

interface Broadcast {
  readonly stream: OwnedStream;
  /** Whether the agent was unclaimed when its publisher was admitted. */
  isUnclaimed: boolean;
  readonly playlist: HlsPlaylist;
  publisher: Publisher | undefined;
  /** When the publisher's first segment was ready; epoch ms. */
  since: number | undefined;
  /** Removes the stream's segments unless a publisher returns before. */
  removalTimer: Timer | undefined;
}

type Admitted = Extract<Admission, { stream: OwnedStream }>;

/** Published streams per host, which a machine with two processors and a disk carries easily. */
export const MAX_STREAMS = 50;
/** Of these, for unclaimed agents: anyone with bot tokens can create many of them without an account. */
export const MAX_UNCLAIMED_STREAMS = 10;
/** Segments stay after the end, so that viewers see the last ones and a reconnecting encoder continues the playlist. */
const LINGER_MS = 15 * SECOND;

/** `folder`: holds one folder per stream. */
export function createBroadcasts(folder: string, hooks: StreamHooks): Broadcasts {
  const broadcasts = new Map<string, Broadcast>();
  /** Counts calls of `end`, so that an admission decided before one of them is decided again. */
  let endCount = 0;

  const publishing = () => [...broadcasts.values()].filter(({ publisher }) => publisher);

  function capacityRefusal({ stream, maxStreams, isUnclaimed }: Admitted): string | undefined {
    const others = publishing().filter(({ stream: { id } }) => id !== stream.id);
    if (others.length >= MAX_STREAMS) return `This host carries ${MAX_STREAMS} live streams already. Try again later.`;
    if (isUnclaimed && others.filter((other) => other.isUnclaimed).length >= MAX_UNCLAIMED_STREAMS) {
      return `This host carries ${MAX_UNCLAIMED_STREAMS} live streams of unclaimed agents already. Claim this one, or try again later.`;
    }
    if (others.filter(({ stream: { userId } }) => userId === stream.userId).length < maxStreams) return undefined;
    return `Your plan has room for ${maxStreams} live ${maxStreams === 1 ? "stream" : "streams"} at once. End one first.`;
  }

  async function admit(key: string, publisher: Publisher): Promise<Admission> {
    let admission: Admission;
    let countBefore: number;
    do {
      countBefore = endCount;
      admission = await hooks.admit(key);
    } while (countBefore !== endCount);
    if ("refusal" in admission) return admission;
    const { stream } = admission;
    const refusal = capacityRefusal(admission);
    if (refusal) {
      hooks.logForAgent(stream, `A publisher was refused: ${refusal}`);
      return { refusal };
    }
    setPublisher(admission, publisher);
    return admission;
  }

  /** The newest publisher wins: mostly it is the same encoder, whose old connection died unnoticed. */
  function setPublisher({ stream, isUnclaimed }: Admitted, publisher: Publisher): void {
    const found = broadcasts.get(stream.id);
    const broadcast: Broadcast = found ?? {
      stream,
      isUnclaimed,
      playlist: createHlsPlaylist(join(folder, stream.id)),
      publisher: undefined,
      since: undefined,
      removalTimer: undefined,
    };
    broadcasts.set(stream.id, broadcast);
    clearTimeout(broadcast.removalTimer);
    broadcast.isUnclaimed = isUnclaimed;
    const previous = broadcast.publisher;
    broadcast.publisher = publisher;
    if (!previous) return;
    hooks.logForAgent(stream, "Another publisher connected with the same key and has taken over.");
    previous.end("another publisher connected with the same key.");
  }

  const broadcastOf = (publisher: Publisher) =>
    [...broadcasts.values()].find((broadcast) => broadcast.publisher === publisher);

  async function onSegment(publisher: Publisher, { init, data, codecs, at, segment }: ReadySegment): Promise<void> {
    const broadcast = broadcastOf(publisher);
    if (!broadcast) return;
    const { start, end, hasNewInit } = segment;
    await broadcast.playlist.append({ init, data, codecs, hasNewInit, at, duration: end - start });
    if (broadcast.publisher !== publisher || broadcast.since !== undefined) return;
    broadcast.since = Date.now();
    hooks.onStarted(broadcast.stream);
  }

  function onEnded(publisher: Publisher, reason: string | undefined, isClean: boolean): void {
    const broadcast = broadcastOf(publisher);
    if (!broadcast) return;
    const { stream, playlist, since } = broadcast;
    broadcast.publisher = undefined;
    broadcast.since = undefined;
    const endReason = reason ?? (isClean ? undefined : "the publisher's connection was lost.");
    if (since !== undefined) hooks.onEnded(stream, endReason);
    else if (endReason !== undefined)
      hooks.logForAgent(stream, `A publisher left before its stream was on the air: ${endReason}`);
    if (isClean) playlist.close();
    broadcast.removalTimer = setTimeout(() => {
      broadcasts.delete(stream.id);
      void playlist.clear();
    }, LINGER_MS);
    broadcast.removalTimer.unref();
  }

  async function end(id: string, reason: string): Promise<void> {
    endCount++;
    const broadcast = broadcasts.get(id);
    if (!broadcast) return;
    const { stream, playlist, publisher, since, removalTimer } = broadcast;
    broadcasts.delete(id);
    clearTimeout(removalTimer);
    publisher?.end(reason);
    if (since !== undefined) hooks.onEnded(stream, reason);
    await playlist.clear();
  }

  return {
    publisherEventsFor: (self, onRefused) => ({
      admit: (key) => admit(key, self()),
      onSegment: (ready) => onSegment(self(), ready),
      onEnded: (reason, isClean) => onEnded(self(), reason, isClean),
      onRefused,
    }),
    liveStatusOf(id) {
      const { publisher, since } = broadcasts.get(id) ?? {};
      return publisher && since !== undefined ? { since, bitrate: publisher.bitrate() } : undefined;
    },
    publishedStreams: () => publishing().map(({ stream }) => stream),
    end,
    fileResponse: (id, name) => broadcasts.get(id)?.playlist.fileResponse(name),
    async close(reason) {
      await Promise.all([...broadcasts.keys()].map((id) => end(id, reason)));
    },
  };
}
