// Reads the events of a turn, as the runtime writes them, into typed ones.
import type { SentFile, TurnFrame } from "../runtime/index.ts";

export type TurnStatus = "done" | "failed" | "cancelled" | "waiting";

export type TurnEvent =
  /** The turn waits for its place, or runs. Its absence at the beginning means that the turn was over before. */
  | { kind: "begun" }
  | { kind: "text"; text: string }
  /** A call of a tool begins (`called`) or has ended. `result` is its text. */
  | {
      kind: "tool";
      id: string;
      parent?: string;
      name: string;
      input: unknown;
      state: "called" | "done" | "failed";
      result: string;
    }
  | { kind: "file"; file: SentFile }
  /** A call waits for its owner's approval; `id` is that of the request. */
  | { kind: "approval"; id: string; callId: string; tool: string; class: string; summary: string }
  /** The turn does not go on now, for this reason. */
  | { kind: "waiting"; code: string; message: string; retryInMs?: number }
  /** The turn has begun anew: what came before is void. */
  | { kind: "reset" }
  | { kind: "reply"; text: string; conversationId: string; files: readonly SentFile[] }
  | { kind: "error"; status: number; code: string; message: string }
  /** `waiting`: the turn waits for its owner's approval; it may go on in the same events. */
  | { kind: "end"; status: TurnStatus }
  /** The connection is alive. */
  | { kind: "heartbeat" };

/** Yields the events of one turn; they end without `end` if the service stopped meanwhile. */
export async function* readTurnEvents(frames: AsyncIterable<TurnFrame>): AsyncGenerator<TurnEvent> {
  for await (const { event, data } of frames) {
    if (data === "") {
      yield { kind: "heartbeat" };
      continue;
    }
    const found = toTurnEvent(event, JSON.parse(data) as Record<string, unknown>);
    if (found) yield found;
  }
}

const FILE_KINDS = ["picture", "audio", "voice"] as const;

function toFile({ id, name, type, size, kind, caption, url }: Record<string, unknown>): SentFile {
  return {
    id: String(id),
    name: String(name),
    type: String(type),
    size: Number(size),
    kind: FILE_KINDS.find((one) => one === kind) ?? "document",
    caption: typeof caption === "string" ? caption : null,
    url: String(url),
  };
}

function toTurnEvent(event: string, fields: Record<string, unknown>): TurnEvent | undefined {
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
  switch (event) {
    case "turn":
      return { kind: "begun" };
    case "delta":
      return { kind: "text", text: text("text") };
    case "tool": {
      const state = text("state");
      return {
        kind: "tool",
        id: text("id"),
        ...(fields.parent !== undefined && { parent: text("parent") }),
        name: text("name"),
        input: fields.input,
        state: state === "done" || state === "failed" ? state : "called",
        result: text("result"),
      };
    }
    case "file":
      return { kind: "file", file: toFile(fields) };
    case "approval":
      return {
        kind: "approval",
        id: text("id"),
        callId: text("callId"),
        tool: text("tool"),
        class: text("class"),
        summary: text("summary"),
      };
    case "waiting":
      // A reader that joins a suspended turn is told so, and could read on when it goes on.
      if (text("code") === "WAITING_FOR_APPROVAL") return { kind: "end", status: "waiting" };
      return {
        kind: "waiting",
        code: text("code"),
        message: text("message"),
        ...(typeof fields.retryInMs === "number" && { retryInMs: fields.retryInMs }),
      };
    case "reset":
      return { kind: "reset" };
    case "reply": {
      const files: unknown[] = Array.isArray(fields.files) ? fields.files : [];
      const sent = files.map((file) => toFile(file as Record<string, unknown>));
      return { kind: "reply", text: text("text"), conversationId: text("conversationId"), files: sent };
    }
    case "error": {
      const status = typeof fields.status === "number" ? fields.status : 409;
      return { kind: "error", status, code: text("code"), message: text("message") || text("error") };
    }
    case "end": {
      const status = text("status");
      const isKnown = status === "done" || status === "cancelled" || status === "waiting";
      return { kind: "end", status: isKnown ? status : "failed" };
    }
    default:
      return undefined;
  }
}
