// Talks to an agent: sends a message once, and follows its turn to the reply, also over broken connections and restarts of the service.
import type { ReplyFile, SentTurn } from "./api-types.ts";
import { toError } from "./errors.ts";
import { type Http, randomId } from "./http.ts";
import { follow } from "./sse.ts";

export interface Message {
  message?: string;
  /** Ids of uploads, see `uploads.add`. */
  attachments?: string[];
  /** Those of the uploads that were spoken for this message. */
  voice?: string[];
  /** Goes on with this conversation. Left out: begins a new one. */
  conversationId?: string | undefined;
}

export interface Reply {
  type: "reply";
  text: string;
  turnId: string;
  conversationId: string;
  /** ISO 8601. */
  timestamp: string;
  files?: ReplyFile[];
}

export type ChatEvent =
  /** The message is stored, and how its turn stands. */
  | { type: "turn"; turnId: string; conversationId: string; status: string }
  /** The next piece of the reply. */
  | { type: "delta"; text: string }
  /** The turn began anew, so the deltas so far are void. */
  | { type: "reset" }
  | {
      type: "tool";
      id: string;
      name: string;
      state: "called" | "done" | "failed";
      /** With secrets blacked out. */
      input: unknown;
      result?: string;
      ms?: number;
    }
  | ({ type: "file" } & ReplyFile)
  /** A tool call waits for the owner's approval. */
  | { type: "approval"; tool: string; class: string; summary: string; turnId: string }
  /** The turn waits, and goes on by itself or after the owner's decision. */
  | { type: "waiting"; turnId: string; code: string; message: string; retryInMs?: number }
  | Reply;

export interface Chat extends AsyncIterable<ChatEvent> {
  /** Resolves with the reply; throws the error of the turn, or if it waits for an approval. */
  reply(): Promise<Reply>;
}

const GIVE_UP_AFTER_MS = 5 * 60_000;

/** @param signal aborts the turn; so does leaving the loop before its end */
export function createChat(http: Http, agentId: string, given: string | Message, signal?: AbortSignal): Chat {
  async function* events(): AsyncGenerator<ChatEvent, void> {
    const { conversationId, ...body } = typeof given === "string" ? { message: given } : given;
    const agent = `/api/agents/${encodeURIComponent(agentId)}`;
    const conversation = conversationId ? `/${encodeURIComponent(conversationId)}/messages` : "";
    const idempotencyKey = randomId();
    const sent = await http.json<SentTurn>("POST", `${agent}/conversations${conversation}`, {
      body,
      idempotencyKey,
      signal,
    });
    const turn = `${agent}/turns/${encodeURIComponent(sent.turnId)}`;
    let isOver = false;
    let hasText = false;
    try {
      const isEnd = ({ type }: { type: string }) => type === "end";
      for await (const { id, type, data } of follow(
        http,
        `${turn}/events`,
        {},
        { signal },
        { isOver: isEnd, giveUpAfterMs: GIVE_UP_AFTER_MS },
      )) {
        isOver ||= type === "end" || type === "reply" || type === "error";
        const fields = Object(data) as Record<string, unknown>;
        // The turn has ended while nobody was connected: its stored outcome follows no delta.
        const isVoid: boolean = hasText && id.startsWith("stored.") && type !== "end";
        if (isVoid) yield { type: "reset" };
        hasText = type === "delta" || (hasText && !isVoid && type !== "reset");
        if (type === "error") throw toError(Number(fields.status ?? 500), fields);
        if (type === "end") return;
        const own = type === "turn" ? { conversationId: sent.conversationId } : {};
        yield { ...fields, ...own, type } as ChatEvent;
      }
    } finally {
      // Nobody reads on, so the turn must not go on spending.
      if (!isOver) await http.send("POST", `${turn}/cancel`).catch(() => undefined);
    }
  }
  return {
    [Symbol.asyncIterator]: events,
    async reply() {
      let waiting = "The turn ended without a reply.";
      for await (const event of events()) {
        if (event.type === "reply") return event;
        if (event.type === "waiting") waiting = event.message;
      }
      throw toError(409, { code: "NO_REPLY", message: waiting });
    },
  };
}
