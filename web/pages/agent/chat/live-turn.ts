// Follows a turn while it runs. A lost connection is taken up where it was; the page is painted once a frame.

import { useEffect, useState } from "react";
import { path, send } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import type { Attached } from "./chat-data.ts";

export interface LiveStep {
  id: string;
  /** The id of the step within which it was made. */
  parent?: string;
  name: string;
  input: unknown;
  state: "called" | "done" | "failed";
  result?: string;
  ms?: number;
}

export interface LiveTurn {
  turnId: string;
  status: "waiting" | "running" | "done" | "failed" | "cancelled";
  text: string;
  steps: readonly LiveStep[];
  files: readonly Attached[];
  /** Calls that wait for approval. */
  approvals: number;
  /** Why it does not go on now. */
  pause: { code: string; message: string; retryAt: number | undefined } | undefined;
  isConnected: boolean;
}

interface Frame {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

const RECONNECT_MS = [300, 1_000, 2_000, 4_000] as const;

const blank = (turnId: string): LiveTurn => ({
  turnId,
  status: "waiting",
  text: "",
  steps: [],
  files: [],
  approvals: 0,
  pause: undefined,
  isConnected: true,
});

/** The turn with this id as it is now; undefined without one. `onEnd` is called once when it is over. */
export function useLiveTurn(
  agentId: string,
  turnId: string | undefined,
  onEnd: (turnId: string) => void,
): LiveTurn | undefined {
  const [turn, setTurn] = useState<LiveTurn>();
  const [end] = useState(() => ({ call: onEnd }));
  end.call = onEnd;
  useEffect(() => {
    if (turnId === undefined) return;
    const left = new AbortController();
    let state = blank(turnId);
    let frame: number | undefined;
    setTurn(state);
    const paint = () => {
      frame = undefined;
      if (!left.signal.aborted) setTurn(state);
    };
    const change = (next: LiveTurn) => {
      state = next;
      // A tab in the background gets no frames.
      if (document.hidden) paint();
      else frame ??= requestAnimationFrame(paint);
    };
    void follow(agentId, turnId, left.signal, (given) =>
      change(given ? apply(state, given) : { ...state, isConnected: false }),
    )
      .then((isOver) => {
        if (isOver && !left.signal.aborted) end.call(turnId);
      })
      .catch((error: unknown) => reportError(error));
    return () => {
      left.abort();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [agentId, turnId, end]);
  return turn?.turnId === turnId ? turn : undefined;
}

/** Reads the events of a turn until its end; resolves with whether it is over. `undefined` says that the connection is lost. */
async function follow(
  agentId: string,
  turnId: string,
  signal: AbortSignal,
  receive: (frame: Frame | undefined) => void,
): Promise<boolean> {
  let lastId = "";
  for (let failures = 0; !signal.aborted; ) {
    try {
      const headers = { accept: "text/event-stream", ...(lastId && { "last-event-id": lastId }) };
      const response = await send("GET", path`/api/agents/${agentId}/turns/${turnId}/events`, { headers, signal });
      for await (const frame of readFrames(response)) {
        failures = 0;
        if (frame.id) lastId = frame.id;
        if (frame.event === "") continue;
        receive(frame);
        if (frame.event === "end") return true;
      }
    } catch (error) {
      if (signal.aborted) return false;
      // It was deleted with its agent or conversation.
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) return true;
    }
    if (failures > 0) receive(undefined);
    const delay = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)] ?? 0;
    failures++;
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
  return false;
}

async function* readFrames({ body }: Response): AsyncGenerator<Frame, void> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield toFrame(block);
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function toFrame(block: string): Frame {
  const fields = new Map(
    block.split("\n").map((line) => [line.split(":", 1)[0] ?? "", line.slice(line.indexOf(":") + 2)]),
  );
  const data = fields.get("data");
  return {
    id: fields.get("id") ?? "",
    event: data ? (fields.get("event") ?? "") : "",
    data: data ? JSON.parse(data) : {},
  };
}

const toStep = ({ id, parent, name, input, state, result, ms }: Frame["data"]): LiveStep => ({
  id: String(id),
  ...(typeof parent === "string" && { parent }),
  name: String(name),
  input,
  state: state === "done" || state === "failed" ? state : "called",
  ...(typeof result === "string" && { result }),
  ...(typeof ms === "number" && { ms }),
});

const toFile = ({ id, name, type, size, caption }: Frame["data"]): Attached => ({
  id: String(id),
  name: String(name),
  type: String(type),
  size: Number(size),
  ...(typeof caption === "string" && caption && { caption }),
});

function apply(turn: LiveTurn, { event, data }: Frame): LiveTurn {
  const now = { ...turn, isConnected: true };
  switch (event) {
    case "reset":
      return blank(turn.turnId);
    case "turn":
      return { ...now, status: data.status === "running" ? "running" : "waiting", pause: undefined };
    case "delta":
      return { ...now, status: "running", pause: undefined, text: turn.text + String(data.text) };
    case "tool": {
      const step = toStep(data);
      const others = turn.steps.filter(({ id }) => id !== step.id);
      const isKnown = others.length < turn.steps.length;
      return {
        ...now,
        steps: isKnown ? turn.steps.map((one) => (one.id === step.id ? step : one)) : [...turn.steps, step],
      };
    }
    case "file": {
      const file = toFile(data);
      return { ...now, files: [...turn.files.filter(({ id }) => id !== file.id), file] };
    }
    case "approval":
      return { ...now, approvals: turn.approvals + 1 };
    case "waiting": {
      const retryAt = typeof data.retryInMs === "number" ? Date.now() + data.retryInMs : undefined;
      return { ...now, status: "waiting", pause: { code: String(data.code), message: String(data.message), retryAt } };
    }
    case "reply":
      return { ...now, text: String(data.text) };
    case "end":
      return { ...now, status: data.status as LiveTurn["status"] };
    default:
      return now;
  }
}
