// Keeps the events of running turns for readers that join late or reconnect.
import { errorBody } from "../../../src/kernel/error-body.ts";
import { formatEvent, type StreamSource } from "../../../src/kernel/http/sse-streams.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { Reply } from "../turn/running-turns.ts";
import type { Observer } from "../turn/tool-calls.ts";

/** How long an ended turn can still be replayed. */
const KEPT_AFTER_END = MINUTE;
const MAX_TURNS = 2_000;
/** Characters over all turns; beyond it the oldest turn is dropped, and its readers get the stored outcome. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

type Key = Pick<InboxEntry, "id" | "agentId">;

/** A text or an event of a turn. A text takes one position for each character, an event one. */
type Part = { at: number; text: string } | { at: number; event: string; data: unknown };

/** The call of a tool that waits for the owner's approval. */
export interface ApprovalNotice {
  /** Of the request for approval. */
  id: string;
  /** The provider's id of the call. */
  callId: string;
  tool: string;
  class: string;
  summary: string;
}

export interface LiveObserver extends Observer {
  approval(notice: ApprovalNotice): void;
}

/** How a turn ended. */
export type Outcome = (Pick<Reply, "reply" | "timestamp" | "files"> & { sessionId: string }) | { error: unknown };

export interface LiveTurns {
  /** Begins to keep a turn; returns the kept one if there is one. `isWatched`: kept only as long as somebody reads it. */
  open(key: Key, isWatched?: boolean): void;
  /** Forgets a turn, and ends its streams. */
  drop(id: string): void;
  /** A try of this turn begins; returns its observer if the turn is kept. */
  begin(key: Key): LiveObserver | undefined;
  /** Tells the readers of a turn that was suspended before they came what it has said and done, unless it goes on meanwhile. */
  recall(id: string, tell: (observer: LiveObserver) => void, reason: unknown): void;
  /** The turn waits for its owner, for this reason. Its readers are told, and nothing is kept of it meanwhile. */
  suspend(id: string, reason: unknown): void;
  /** The turn does not go on now, for this reason; it will by itself, after `retryInMs` where that is known. */
  postpone(id: string, reason: unknown, retryInMs?: number): void;
  end(id: string, outcome: Outcome): void;
  /** Ends all turns of an agent with this error. */
  endAgent(agentId: string, error: unknown): void;
  /** Reads a kept turn of this agent from after the event with this id; undefined if it is not kept. */
  source(key: Key, lastEventId: string | undefined): StreamSource | undefined;
  size(): number;
}

interface LiveTurn {
  readonly agentId: string;
  /** Names this log of the turn: positions of an earlier try, or of an earlier process, are in another one. */
  epoch: string;
  parts: Part[];
  /** The position after the last part. */
  length: number;
  ended: boolean;
  isWatched: boolean;
  readonly readers: Set<() => void>;
  forget?: Timer;
}

interface Deps {
  /** The input of a tool, as JSON, and its result without secrets, and short enough to be shown. */
  showInput(input: string): unknown;
  showText(text: string): string;
}

export function createLiveTurns({ showInput, showText }: Deps): LiveTurns {
  /** By inbox entry, oldest first. */
  const turns = new Map<string, LiveTurn>();
  let characters = 0;

  function notify(turn: LiveTurn): void {
    for (const wake of turn.readers) wake();
  }

  function clear(turn: LiveTurn): void {
    characters -= turn.length;
    turn.parts = [];
    turn.length = 0;
    turn.epoch = newEpoch();
  }

  function drop(id: string): void {
    const turn = turns.get(id);
    if (!turn) return;
    turns.delete(id);
    clearTimeout(turn.forget);
    characters -= turn.length;
    turn.ended = true;
    notify(turn);
  }

  function grow(turn: LiveTurn, part: Part, size: number): void {
    turn.parts.push(part);
    turn.length += size;
    characters += size;
  }

  function add(turn: LiveTurn, event: string, data: unknown): void {
    if (turn.ended) return;
    grow(turn, { at: turn.length, event, data }, 1);
    notify(turn);
  }

  function addText(turn: LiveTurn, text: string): void {
    if (turn.ended || text === "") return;
    const last = turn.parts.at(-1);
    if (last && "text" in last) {
      last.text += text;
      turn.length += text.length;
      characters += text.length;
    } else grow(turn, { at: turn.length, text }, text.length);
    notify(turn);
  }

  function observe(id: string, turn: LiveTurn): LiveObserver {
    return {
      delta: (text) => addText(turn, text),
      tool: () => undefined,
      file: (file) => add(turn, "file", file),
      step({ id: callId, parent, tool, input, ended }) {
        const call = { id: callId, ...(parent && { parent }), name: tool, input: showInput(input) };
        if (!ended) return add(turn, "tool", { ...call, state: "called" });
        const { ok, result, ms } = ended;
        add(turn, "tool", { ...call, state: ok ? "done" : "failed", result: showText(result), ms });
      },
      approval: (notice) => add(turn, "approval", { ...notice, turnId: id, summary: showText(notice.summary) }),
    };
  }

  function dropOldest(): void {
    for (const [id] of turns) {
      if (turns.size <= MAX_TURNS && characters <= MAX_CHARACTERS) return;
      drop(id);
    }
  }

  function postpone(id: string, reason: unknown, retryInMs?: number): void {
    const turn = turns.get(id);
    if (!turn) return;
    const { message, code } = errorBody(reason).body;
    add(turn, "waiting", { turnId: id, code, message, ...(retryInMs !== undefined && { retryInMs }) });
  }

  function end(id: string, outcome: Outcome): void {
    const turn = turns.get(id);
    if (!turn || turn.ended) return;
    if ("error" in outcome) {
      const { status, body } = errorBody(outcome.error);
      add(turn, "error", { status, ...body });
      add(turn, "end", { turnId: id, status: body.code === "CANCELLED" ? "cancelled" : "failed" });
    } else {
      add(turn, "reply", { turnId: id, conversationId: outcome.sessionId, ...toReply(outcome) });
      add(turn, "end", { turnId: id, status: "done" });
    }
    turn.ended = true;
    turn.forget = setTimeout(() => drop(id), KEPT_AFTER_END);
    turn.forget.unref();
    notify(turn);
  }

  return {
    open({ id, agentId }, isWatched = false) {
      const known = turns.get(id);
      if (known) {
        known.isWatched &&= isWatched;
        return;
      }
      const turn: LiveTurn = {
        agentId,
        epoch: newEpoch(),
        parts: [],
        length: 0,
        ended: false,
        isWatched,
        readers: new Set(),
      };
      turns.set(id, turn);
      add(turn, "turn", { turnId: id, status: "waiting" });
      dropOldest();
    },
    drop,

    begin({ id }) {
      const turn = turns.get(id);
      if (!turn || turn.ended) return undefined;
      // Readers of an earlier try notice the new epoch, and begin anew.
      if (turn.parts.some((part) => "text" in part || part.event !== "turn")) clear(turn);
      add(turn, "turn", { turnId: id, status: "running" });
      return observe(id, turn);
    },

    recall(id, tell, reason) {
      const turn = turns.get(id);
      // Only that it waits is known of it.
      if (!turn || turn.ended || turn.length !== 1) return;
      tell(observe(id, turn));
      postpone(id, reason);
    },

    suspend(id, reason) {
      const turn = turns.get(id);
      if (!turn) return;
      postpone(id, reason);
      add(turn, "end", { turnId: id, status: "waiting" });
      drop(id);
    },
    postpone,
    end,
    endAgent(agentId, error) {
      for (const [id, turn] of turns) if (turn.agentId === agentId) end(id, { error });
    },

    source({ id, agentId }, lastEventId) {
      const turn = turns.get(id);
      if (turn?.agentId !== agentId) return undefined;
      return createSource(turn, lastEventId, () => {
        if (turn.isWatched && turn.readers.size === 0 && turns.get(id) === turn) drop(id);
      });
    },
    size: () => turns.size,
  };
}

/** One observer for the readers of a turn and for the caller that waits for it. */
export function teeObserver(one: Observer | undefined, live: LiveObserver | undefined): Observer | undefined {
  if (!one || !live) return one ?? live;
  return {
    delta(text) {
      one.delta(text);
      live.delta(text);
    },
    tool: (event) => one.tool(event),
    file(file) {
      one.file?.(file);
      live.file?.(file);
    },
    step: (event) => live.step?.(event),
  };
}

export const toReply = ({ reply, timestamp, files }: Pick<Reply, "reply" | "timestamp" | "files">) => ({
  text: reply,
  timestamp: new Date(timestamp).toISOString(),
  ...(files && { files }),
});

const newEpoch = () => crypto.randomUUID().slice(0, 8);

function createSource(turn: LiveTurn, lastEventId = "", onLeft: () => void): StreamSource {
  const [givenEpoch = "", givenPosition = ""] = lastEventId.split(".");
  let epoch = givenEpoch;
  let position = Number(givenPosition);
  const isOutdated = () =>
    epoch !== turn.epoch || !Number.isSafeInteger(position) || position < 0 || position > turn.length;
  return {
    lastEventId: () => (isOutdated() ? lastEventId : `${epoch}.${position}`),
    async read() {
      let text = "";
      if (isOutdated()) {
        // The text so far is void.
        if (epoch !== "") text += formatEvent(`${turn.epoch}.0`, "reset", {});
        [epoch, position] = [turn.epoch, 0];
      }
      // The parts before the position are skipped from the end: a reader is mostly at the last ones.
      let first = turn.parts.length;
      while (first > 0 && endOf(turn.parts[first - 1]) > position) first--;
      for (const part of turn.parts.slice(first)) {
        const frame: [string, unknown] =
          "text" in part
            ? ["delta", { text: part.text.slice(Math.max(0, position - part.at)) }]
            : [part.event, part.data];
        position = endOf(part);
        text += formatEvent(`${epoch}.${position}`, ...frame);
      }
      return { text, more: false, end: turn.ended };
    },
    listen(wake) {
      turn.readers.add(wake);
      return () => {
        turn.readers.delete(wake);
        onLeft();
      };
    },
  };
}

const endOf = (part: Part | undefined) => (part ? part.at + ("text" in part ? part.text.length : 1) : 0);
