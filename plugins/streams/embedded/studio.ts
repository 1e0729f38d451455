// The streams that are on the air: who publishes each, and what its viewers can have.
import { join } from "node:path";
import type { Admission, Desk, OnAir, Owned } from "../driver.ts";
import type { Publisher, PublisherEvents, Ready } from "./publisher.ts";
import { createShelf, type Shelf } from "./shelf.ts";

export interface Studio {
  /** What a new connection is given: `self` is asked for once it wants to publish. */
  eventsFor(self: () => Publisher, refused: (why: string) => void): PublisherEvents;
  onAir(id: string): OnAir | undefined;
  published(): readonly Owned[];
  end(id: string, why: string): Promise<void>;
  file(id: string, name: string): Response | undefined;
  /** Ends all. */
  close(why: string): Promise<void>;
}

interface Broadcast {
  readonly stream: Owned;
  /** Whether the agent was nobody's when its publisher came. */
  isUnclaimed: boolean;
  readonly shelf: Shelf;
  publisher: Publisher | undefined;
  /** Since when viewers have something to see; epoch ms. */
  since: number | undefined;
  /** Removes all when no publisher comes back. */
  lingering: Timer | undefined;
}

type Admitted = Extract<Admission, { stream: Owned }>;

/** On the air at once, whosever they are: what a machine with two processors and a disk carries with ease. */
export const MAX_STREAMS = 50;
/** Of these, for agents that nobody has claimed: whoever has bots' tokens can have many, without an account. */
export const MAX_UNCLAIMED = 10;
/** What viewers can have stays so long: they see the end, and an encoder that lost its connection goes on where it was. */
const LINGER_MS = 15_000;

/** `folder`: for the files of all streams. */
export function createStudio(folder: string, desk: Desk): Studio {
  const broadcasts = new Map<string, Broadcast>();
  /** How many streams were ended from here, so that nobody slips in who was asked about before. */
  let ends = 0;

  const held = () => [...broadcasts.values()].filter(({ publisher }) => publisher);

  function refusalFor({ stream, most, isUnclaimed }: Admitted): string | undefined {
    const others = held().filter(({ stream: { id } }) => id !== stream.id);
    if (others.length >= MAX_STREAMS) return `This host carries ${MAX_STREAMS} live streams already. Try again later.`;
    if (isUnclaimed && others.filter((other) => other.isUnclaimed).length >= MAX_UNCLAIMED) {
      return `This host carries ${MAX_UNCLAIMED} live streams of agents that nobody has claimed. Claim this one, or try again later.`;
    }
    if (others.filter(({ stream: { userId } }) => userId === stream.userId).length < most) return undefined;
    return `Your plan has room for ${most} live ${most === 1 ? "stream" : "streams"} at once. End one first.`;
  }

  async function admit(key: string, publisher: Publisher): Promise<Admission> {
    let answer: Admission;
    let before: number;
    do {
      before = ends;
      answer = await desk.admit(key);
    } while (before !== ends);
    if ("refusal" in answer) return answer;
    const { stream } = answer;
    const refusal = refusalFor(answer);
    if (refusal) {
      desk.note(stream, `A publisher was refused: ${refusal}`);
      return { refusal };
    }
    take(answer, publisher);
    return answer;
  }

  /** The newest publisher wins: mostly it is the same encoder, whose connection is dead without our knowing. */
  function take({ stream, isUnclaimed }: Admitted, publisher: Publisher): void {
    const found = broadcasts.get(stream.id);
    const broadcast: Broadcast = found ?? {
      stream,
      isUnclaimed,
      shelf: createShelf(join(folder, stream.id)),
      publisher: undefined,
      since: undefined,
      lingering: undefined,
    };
    broadcasts.set(stream.id, broadcast);
    clearTimeout(broadcast.lingering);
    broadcast.isUnclaimed = isUnclaimed;
    const before = broadcast.publisher;
    broadcast.publisher = publisher;
    if (!before) return;
    desk.note(stream, "Another publisher came with the same key and has taken over.");
    before.end("another publisher came with the same key.");
  }

  const of = (publisher: Publisher) => [...broadcasts.values()].find((broadcast) => broadcast.publisher === publisher);

  async function segment(publisher: Publisher, { init, data, codecs, at, cut }: Ready): Promise<void> {
    const broadcast = of(publisher);
    if (!broadcast) return;
    const { start, end, isFresh } = cut;
    await broadcast.shelf.put({ init, data, codecs, isFresh, at, duration: end - start });
    if (broadcast.publisher !== publisher || broadcast.since !== undefined) return;
    broadcast.since = Date.now();
    desk.began(broadcast.stream);
  }

  function over(publisher: Publisher, why: string | undefined, said: boolean): void {
    const broadcast = of(publisher);
    if (!broadcast) return;
    const { stream, shelf, since } = broadcast;
    broadcast.publisher = undefined;
    broadcast.since = undefined;
    const ending = why ?? (said ? undefined : "the publisher's connection was lost.");
    if (since !== undefined) desk.ended(stream, ending);
    else if (ending !== undefined) desk.note(stream, `A publisher was there, but nothing came on the air: ${ending}`);
    if (said) shelf.close();
    broadcast.lingering = setTimeout(() => {
      broadcasts.delete(stream.id);
      void shelf.clear();
    }, LINGER_MS);
    broadcast.lingering.unref();
  }

  async function end(id: string, why: string): Promise<void> {
    ends++;
    const broadcast = broadcasts.get(id);
    if (!broadcast) return;
    const { stream, shelf, publisher, since, lingering } = broadcast;
    broadcasts.delete(id);
    clearTimeout(lingering);
    publisher?.end(why);
    if (since !== undefined) desk.ended(stream, why);
    await shelf.clear();
  }

  return {
    eventsFor: (self, refused) => ({
      admit: (key) => admit(key, self()),
      segment: (ready) => segment(self(), ready),
      over: (why, said) => over(self(), why, said),
      refused,
    }),
    onAir(id) {
      const { publisher, since } = broadcasts.get(id) ?? {};
      return publisher && since !== undefined ? { since, bitrate: publisher.bitrate() } : undefined;
    },
    published: () => held().map(({ stream }) => stream),
    end,
    file: (id, name) => broadcasts.get(id)?.shelf.file(name),
    async close(why) {
      await Promise.all([...broadcasts.keys()].map((id) => end(id, why)));
    },
  };
}
