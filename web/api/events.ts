// Follows the account's events by one connection for all tabs, so that pages change without a reload.

import { type Query, type QueryClient, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { EVENT_TYPES, type EventType } from "../../plugins/webhooks/event-types.ts";
import { look, onReturn } from "./connection.ts";
import { soon } from "./soon.ts";
import { keepStream, type Stream } from "./stream.ts";

/** An event of `GET /api/events`; docs/webhooks.md describes each type's data. */
export interface LiveEvent {
  type: string;
  timestamp: string;
  data: Readonly<Record<string, unknown>>;
}

/** An event type, the part of several up to the dot ("agent."), or "" for all. */
type EventPrefix = "" | EventType | (EventType extends `${infer Group}.${string}` ? `${Group}.` : never);

type Handler = (event: LiveEvent) => void;

/** What tabs tell each other: an event, what became of the stream, or that somebody came back to a tab without one. */
type Message = LiveEvent | { stream: "broken" | "reopened" | "wanted" };

const handlers = new Set<Handler>();
const reopenListeners = new Set<() => void>();
let stream: Stream | undefined;

const channel = new BroadcastChannel("berth-events");
channel.onmessage = ({ data }: MessageEvent<Message>) => {
  if (!("stream" in data)) deliver(data);
  else if (data.stream === "wanted") stream?.hurry();
  else if (data.stream === "broken") void look();
  else noteReopened();
};

/** Calls the pages' handlers; one that fails does not keep others from it. */
function deliver(event: LiveEvent): void {
  for (const handle of handlers) {
    try {
      handle(event);
    } catch (error) {
      reportError(error);
    }
  }
}

function noteReopened(): void {
  for (const notify of reopenListeners) notify();
}

/**
 * Connects. A browser allows six connections to a host, so only one tab holds one (it owns a lock) and tells the others;
 * when it closes, another tab takes over. Locks exist on https and localhost; elsewhere each tab connects by itself.
 */
export function startEvents(): void {
  if (!navigator.locks) {
    connect(() => undefined);
    return;
  }
  void navigator.locks.request(
    "berth-events",
    () =>
      new Promise<never>(() => {
        connect((message) => channel.postMessage(message));
      }),
  );
  // The tab with the stream may be a hidden one, whose timers the browser slows down.
  const want = () => channel.postMessage({ stream: "wanted" } satisfies Message);
  addEventListener("focus", want);
  onReturn(want);
}

function connect(tellOthers: (message: Message) => void): void {
  stream = keepStream({
    url: "/api/events",
    types: EVENT_TYPES,
    receive({ data }) {
      const event = JSON.parse(data) as LiveEvent;
      deliver(event);
      tellOthers(event);
    },
    onBroken: () => tellOthers({ stream: "broken" }),
    onReopened() {
      noteReopened();
      tellOthers({ stream: "reopened" });
    },
  });
}

/** Calls `handle` for events whose type begins with one of `types` ("agent." or "approval.requested"). */
export function useEvents(types: readonly EventPrefix[], handle: Handler): void {
  const handleLatest = useEffectEvent(handle);
  const wanted = types.join(" ");
  useEffect(() => {
    const prefixes = wanted.split(" ");
    const receive: Handler = (event) => {
      if (prefixes.some((prefix) => event.type.startsWith(prefix))) handleLatest(event);
    };
    handlers.add(receive);
    return () => void handlers.delete(receive);
  }, [wanted]);
}

/** The `meta` of queries whose reading changes something, so that they are not read again by themselves. */
export const READ_ONCE = { isReadOnce: true } as const;

/** Reads everything that the page shows again after a lost connection: events were missed, and reads have failed. */
export function catchUpAfterLoss(queries: QueryClient): void {
  const isRepeatable = ({ meta, state }: Query) => meta?.isReadOnce !== true || state.status === "error";
  const catchUp = () => void queries.invalidateQueries({ predicate: isRepeatable });
  const catchUpSoon = () => soon(catchUp);
  reopenListeners.add(catchUpSoon);
  onReturn(catchUpSoon);
}

/**
 * Reads a query again when an event of these types comes, at most once a second.
 *
 * @example useLive(["agents"], ["agent.", "channel.state"])
 */
export function useLive(
  queryKey: QueryKey,
  types: readonly EventPrefix[],
  matches: (event: LiveEvent) => boolean = () => true,
): void {
  const client = useQueryClient();
  const refresh = useEffectEvent(() => void client.invalidateQueries({ queryKey }));
  useEvents(types, (event) => {
    if (matches(event)) soon(refresh);
  });
}
