// Streams events as server-sent events (WHATWG HTML §9.2), read from the database by a cursor at the reader's pace.
import type { Event, Events } from "../../src/kernel/events/events.ts";
import { createSseStreams, formatEvent, type StreamSource } from "../../src/kernel/http/sse-streams.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";
import type { auth, Identity } from "../auth/index.ts";
import { matchesEventType } from "./event-patterns.ts";
import { EVENT_TYPES } from "./event-types.ts";

const BATCH = 100;

export interface FollowOptions {
  types: readonly string[];
  /** All users' events instead of the caller's own. */
  all: boolean;
  /** The id of the last event seen; undefined starts with the next event. */
  after: number | undefined;
  request: Request;
}

export interface EventFeed {
  /** Opens a stream. 429 `TOO_MANY_STREAMS` if the user has 20 open. */
  follow(identity: Identity, options: FollowOptions): Promise<Response>;
  /** Ends the streams of a user. */
  endOf(userId: string): void;
  /** Ends all streams. */
  close(): void;
}

interface Deps {
  events: Pick<Events, "since" | "numbersFor" | "subscribe" | "declaredTypes">;
  log: Log;
  identities: Pick<ServiceOf<typeof auth>["identities"], "authenticate">;
  onSessionRevoked: ServiceOf<typeof auth>["onSessionRevoked"];
  heartbeatMs?: number;
}

export function createEventFeed({ events, log, identities, onSessionRevoked, heartbeatMs }: Deps): EventFeed {
  const streams = createSseStreams({ log, heartbeatMs });
  onSessionRevoked((sessionId) => streams.end((reader) => reader.sessionId === sessionId));

  async function sourceOf(userId: string, { types, all, after }: FollowOptions): Promise<StreamSource> {
    const exactTypes = types.includes("*")
      ? undefined
      : [...EVENT_TYPES, ...events.declaredTypes].filter((type) => matchesEventType(types, type));
    const filter = { ...(all ? {} : { userId }), ...(exactTypes ? { types: exactTypes } : {}), limit: BATCH };
    /** The last event reported by the subscription, whether it matches this reader's filter or not. */
    let lastSeenSeq = 0;
    const numbers = await events.numbersFor(userId, all);
    let cursor = after === undefined ? numbers.latest : numbers.toSeq(after);
    const toFrame = ({ seq, type, createdAt, data }: Event): string =>
      formatEvent(numbers.toId(seq), type, { type, timestamp: new Date(createdAt).toISOString(), data });
    return {
      lastEventId: () => String(numbers.toId(cursor)),
      async read() {
        const seenBeforeRead = lastSeenSeq;
        const found = await events.since(cursor, filter);
        const more = found.length === BATCH;
        cursor = found.at(-1)?.seq ?? cursor;
        // Skip the events that the filter has excluded, so that the next read does not scan them again.
        if (!more) cursor = Math.max(cursor, seenBeforeRead);
        return { text: found.map(toFrame).join(""), more };
      },
      listen: (wake) =>
        events.subscribe((event) => {
          // Beyond NaN or Infinity every later read would find nothing.
          if (Number.isFinite(event.seq)) lastSeenSeq = event.seq;
          if ((all || event.userId === userId) && matchesEventType(types, event.type)) wake();
        }),
    };
  }

  return {
    follow({ user, session }, options) {
      const { all, request } = options;
      const reader = { userId: user.id, sessionId: session?.id };
      return streams.open(
        reader,
        request,
        () => sourceOf(user.id, options),
        async (again) => {
          const { isAdmin } = await identities.authenticate(again, "read");
          return isAdmin || !all;
        },
      );
    },
    endOf: (userId) => streams.end((reader) => reader.userId === userId),
    close: streams.close,
  };
}
