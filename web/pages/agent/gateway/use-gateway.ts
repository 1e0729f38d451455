// Holds one WebSocket to the gateway with the session of this page, and the latest frames of both directions.

import { useEffect, useRef, useState } from "react";

export type SocketState = { kind: "idle" | "connecting" | "open" } | { kind: "closed"; code: number };

export interface ShownFrame {
  id: number;
  direction: "in" | "out";
  /** Epoch ms. */
  at: number;
  text: string;
}

const KEPT_FRAMES = 500;
/** A frame can have 1 MiB; a list of them is for reading. */
const SHOWN_CHARACTERS = 4_000;
const SUBPROTOCOL = "berth.v1";

export function useGateway(address: string) {
  const socket = useRef<WebSocket>(undefined);
  const lastId = useRef(0);
  const [state, setState] = useState<SocketState>({ kind: "idle" });
  const [frames, setFrames] = useState<readonly ShownFrame[]>([]);

  function add(direction: ShownFrame["direction"], data: string): void {
    lastId.current += 1;
    const text = data.length > SHOWN_CHARACTERS ? `${data.slice(0, SHOWN_CHARACTERS)}…` : data;
    const frame = { id: lastId.current, direction, at: Date.now(), text };
    setFrames((before) => [...before, frame].slice(-KEPT_FRAMES));
  }

  function connect(): void {
    const opened = new WebSocket(address, [SUBPROTOCOL]);
    socket.current = opened;
    setState({ kind: "connecting" });
    opened.onopen = () => setState({ kind: "open" });
    opened.onmessage = ({ data }: MessageEvent<string>) => add("in", data);
    opened.onclose = ({ code }) => {
      if (socket.current !== opened) return;
      socket.current = undefined;
      setState({ kind: "closed", code });
    };
  }

  function disconnect(): void {
    const open = socket.current;
    socket.current = undefined;
    open?.close();
    setState({ kind: "idle" });
  }

  /** False if the connection is gone. */
  function send(frame: object): boolean {
    if (socket.current?.readyState !== WebSocket.OPEN) return false;
    const text = JSON.stringify(frame);
    socket.current.send(text);
    add("out", text);
    return true;
  }

  useEffect(
    () => () => {
      const open = socket.current;
      socket.current = undefined;
      open?.close();
    },
    [],
  );
  return { state, frames, connect, disconnect, send, clear: () => setFrames([]) };
}
