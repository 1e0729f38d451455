// Events as a stream (server-sent events, WHATWG HTML §9.2): read from the database by cursor, as fast as the reader reads.
import type { Event, Events } from "../../src/events.ts";
import { createLiveStreams, eventFrame, type Source } from "../../src/live-streams.ts";
import type { Log } from "../../src/log.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import { covers, EVENT_TYPES } from "./types.ts";

const BATCH = 100;

export interface Following {
  types: readonly string[];
  /** Everybody's events, not only the own. */
  all: boolean;
  /** The last event seen; undefined begins with what happens from now on. */
  after: number | undefined;
  request: Request;
}

export interface Feed {
  /** 429 `TOO_MANY_STREAMS` past 20 of one user. */
  follow(identity: Identity, following: Following): Promise<Response>;
  /** Ends all streams. */
  close(): void;
}

interface Deps {
  events: Pick<Events, "since" | "latest" | "subscribe">;
  log: Log;
  identities: Pick<ServiceOf<typeof auth>["identities"], "authenticate">;
  onSessionRevoked: ServiceOf<typeof auth>["onSessionRevoked"];
  heartbeatMs?: number;
}

export function createFeed({ events, log, identities, onSessionRevoked, heartbeatMs }: Deps): Feed {
  const streams = createLiveStreams({ log, heartbeatMs });
  onSessionRevoked((sessionId) => streams.end((reader) => reader.sessionId === sessionId));

  async function sourceOf(userId: string, { types, all, after }: Following): Promise<Source> {
    const exact = types.includes("*") ? undefined : EVENT_TYPES.filter((type) => covers(types, type));
    const filter = { ...(all ? {} : { userId }), ...(exact ? { types: exact } : {}), limit: BATCH };
    /** Every event up to here has been told, whether it was meant for this reader or not. */
    let heard = 0;
    let cursor = after ?? (await events.latest());
    return {
      place: () => String(cursor),
      async read() {
        const upTo = heard;
        const found = await events.since(cursor, filter);
        const more = found.length === BATCH;
        cursor = found.at(-1)?.seq ?? cursor;
        // What was not meant for this reader is not looked through again.
        if (!more) cursor = Math.max(cursor, upTo);
        return { text: found.map(frame).join(""), more };
      },
      listen: (wake) =>
        events.subscribe((event) => {
          heard = event.seq;
          if ((all || event.userId === userId) && covers(types, event.type)) wake();
        }),
    };
  }

  return {
    follow({ user, session }, following) {
      const { all, request } = following;
      const reader = { userId: user.id, sessionId: session?.id };
      return streams.open(
        reader,
        request,
        () => sourceOf(user.id, following),
        async (again) => {
          const { isAdmin } = await identities.authenticate(again, "read");
          return isAdmin || !all;
        },
      );
    },
    close: streams.close,
  };
}

function frame({ seq, type, createdAt, data }: Event): string {
  return eventFrame(seq, type, { type, timestamp: new Date(createdAt).toISOString(), data });
}
