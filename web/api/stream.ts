// Keeps a stream of server-sent events open: after a break it is opened again as soon as the server can be reached.

import { connection, look, onReturn } from "./connection.ts";

interface Options {
  /** Without the id from which to go on, which is added. */
  url: string;
  types: readonly string[];
  receive: (message: MessageEvent<string>) => void;
  onBroken?: () => void;
  /** After a break: events may have been missed. */
  onReopened?: () => void;
}

/** Before the first try after a break, and before the next ones while the server refuses the stream. */
const SOON_MS = 1_000;
const REFUSED_MS = 15_000;

export interface Stream {
  close: () => void;
  /** Tries at once if the stream is broken. */
  hurry: () => void;
}

export function keepStream({ url, types, receive, onBroken, onReopened }: Options): Stream {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = "";
  let refusals = 0;
  let hasEnded = false;
  let isBroken = false;

  const take = (message: MessageEvent<string>) => {
    lastId = message.lastEventId;
    receive(message);
  };

  function open(): void {
    clearTimeout(timer);
    source?.close();
    const place = lastId && `${url.includes("?") ? "&" : "?"}lastEventId=${encodeURIComponent(lastId)}`;
    source = new EventSource(url + place);
    source.onopen = () => {
      refusals = 0;
      if (isBroken) onReopened?.();
      isBroken = false;
    };
    source.onerror = () => void restore();
    source.onmessage = take;
    for (const type of types) source.addEventListener(type, take);
  }

  /** The browser gives up a stream that was refused once, by a proxy for example; so each try is our own. */
  async function restore(): Promise<void> {
    source?.close();
    source = undefined;
    if (!isBroken) onBroken?.();
    isBroken = true;
    const isThere = await look();
    if (hasEnded || source || !isThere) return;
    timer = setTimeout(open, refusals === 0 ? SOON_MS : REFUSED_MS);
    refusals += 1;
  }

  const hurry = () => {
    if (isBroken && !source && connection.get()) open();
  };
  // What the browser took for open may be dead after the network was away.
  const renew = () => {
    if (source) isBroken = true;
    open();
  };
  const stopWaiting = onReturn(hurry);
  addEventListener("focus", hurry);
  addEventListener("online", renew);
  open();
  return {
    hurry,
    close() {
      hasEnded = true;
      clearTimeout(timer);
      stopWaiting();
      removeEventListener("focus", hurry);
      removeEventListener("online", renew);
      source?.close();
    },
  };
}
