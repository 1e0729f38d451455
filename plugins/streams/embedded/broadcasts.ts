// The streams that are on the air: who publishes each, and what its viewers can have.
import { join } from "node:path";
import type { Admission, LiveStatus, OwnedStream, StreamHooks } from "../stream-driver.ts";
import { createHlsPlaylist, type HlsPlaylist } from "./hls-playlist.ts";
import type { Publisher, PublisherEvents, ReadySegment } from "./publisher.ts";

export interface Broadcasts {
  /** What a new connection is given: `self` is asked for once it wants to publish. */
  publisherEventsFor(self: () => Publisher, onRefused: (reason: string) => void): PublisherEvents;
  liveStatusOf(id: string): LiveStatus | undefined;
  publishedStreams(): readonly OwnedStream[];
  end(id: string, reason: string): Promise<void>;
  fileResponse(id: string, name: string): Response | undefined;
  /** Ends all. */
  close(reason: string): Promise<void>;
}

interface Broadcast {
  readonly stream: OwnedStream;
  /** Whether the agent was nobody's when its publisher came. */
  isUnclaimed: boolean;
  readonly playlist: HlsPlaylist;
  publisher: Publisher | undefined;
  /** Since when viewers have something to see; epoch ms. */
  since: number | undefined;
  /** Removes all when no publisher comes back. */
  removalTimer: Timer | undefined;
}

type Admitted = Extract<Admission, { stream: OwnedStream }>;

/** On the air at once, whosever they are: what a machine with two processors and a disk carries with ease. */
export const MAX_STREAMS = 50;
/** Of these, for agents that nobody has claimed: whoever has bots' tokens can have many, without an account. */
export const MAX_UNCLAIMED_STREAMS = 10;
/** What viewers can have stays so long: they see the end, and an encoder that lost its connection goes on where it was. */
const LINGER_MS = 15_000;

/** `folder`: for the files of all streams. */
export function createBroadcasts(folder: string, hooks: StreamHooks): Broadcasts {
  const broadcasts = new Map<string, Broadcast>();
  /** How many streams were ended from here, so that nobody slips in who was asked about before. */
  let endCount = 0;

  const publishing = () => [...broadcasts.values()].filter(({ publisher }) => publisher);

  function capacityRefusal({ stream, maxStreams, isUnclaimed }: Admitted): string | undefined {
    const others = publishing().filter(({ stream: { id } }) => id !== stream.id);
    if (others.length >= MAX_STREAMS) return `This host carries ${MAX_STREAMS} live streams already. Try again later.`;
    if (isUnclaimed && others.filter((other) => other.isUnclaimed).length >= MAX_UNCLAIMED_STREAMS) {
      return `This host carries ${MAX_UNCLAIMED_STREAMS} live streams of agents that nobody has claimed. Claim this one, or try again later.`;
    }
    if (others.filter(({ stream: { userId } }) => userId === stream.userId).length < maxStreams) return undefined;
    return `Your plan has room for ${maxStreams} live ${maxStreams === 1 ? "stream" : "streams"} at once. End one first.`;
  }

  async function admit(key: string, publisher: Publisher): Promise<Admission> {
    let answer: Admission;
    let before: number;
    do {
      before = endCount;
      answer = await hooks.admit(key);
    } while (before !== endCount);
    if ("refusal" in answer) return answer;
    const { stream } = answer;
    const refusal = capacityRefusal(answer);
    if (refusal) {
      hooks.logForAgent(stream, `A publisher was refused: ${refusal}`);
      return { refusal };
    }
    setPublisher(answer, publisher);
    return answer;
  }

  /** The newest publisher wins: mostly it is the same encoder, whose connection is dead without our knowing. */
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
    hooks.logForAgent(stream, "Another publisher came with the same key and has taken over.");
    previous.end("another publisher came with the same key.");
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
      hooks.logForAgent(stream, `A publisher was there, but nothing came on the air: ${endReason}`);
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
