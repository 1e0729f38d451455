// A client of the gateway's WebSocket that collects frames and waits for them by type.

import type { Berth } from "./berth.ts";

export interface Frame {
  type: string;
  id?: string;
  text?: string;
  reply?: string;
  code?: string;
  status?: string;
}

/** A client's socket to the gateway. */
export interface Gateway {
  readonly frames: Frame[];
  send(frame: object): void;
  /** Waits for the first frame of this type; throws if the socket closes before, or after 10 s. */
  next(type: string): Promise<Frame>;
  /** Code and reason of the close. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

/** Opens a gateway socket with the headers of a page of Berth, or others. Never throws; a refusal shows in `closed`. */
export function openGateway(berth: Berth, id: string, headers: Record<string, string>): Gateway {
  const url = `${berth.web.replace("http", "ws")}/agent/${id}`;
  const socket = new WebSocket(url, { headers: { origin: berth.web, ...headers } });
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  const closing = Promise.withResolvers<{ code: number; reason: string }>();
  let closedWith: { code: number; reason: string } | undefined;
  const notify = () => {
    for (const check of [...waiting]) check();
  };
  socket.onmessage = ({ data }) => {
    frames.push(JSON.parse(String(data)));
    notify();
  };
  socket.onclose = ({ code, reason }) => {
    closedWith = { code, reason };
    closing.resolve(closedWith);
    notify();
  };
  const opened = new Promise<void>((resolve) => {
    socket.onopen = () => resolve();
  });
  return {
    frames,
    send: (frame) => void opened.then(() => socket.send(JSON.stringify(frame))),
    next(type) {
      const { promise, resolve, reject } = Promise.withResolvers<Frame>();
      const timer = setTimeout(() => reject(new Error(`No ${type} among ${JSON.stringify(frames)}`)), 10_000);
      const check = () => {
        const found = frames.find((frame) => frame.type === type);
        if (found) resolve(found);
        else if (closedWith)
          reject(new Error(`Closed with ${closedWith.code} before ${type}: ${JSON.stringify(frames)}`));
      };
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
    closed: closing.promise,
    close: () => socket.close(),
  };
}
