// Keeps a visitor's conversation in the browser, and sends its messages. Nothing is stored before the visitor sends something,
// and nothing of it is a cookie.

import { isAnswering } from "./reach.ts";

export interface Message {
  by: "visitor" | "agent";
  text: string;
  /** The visitor's name of the message, or of the one that it answers: the server answers it once, however often it is sent. */
  id?: string;
  /** It has not been answered yet. */
  isOpen?: boolean;
}

/** What a visitor writes. */
export type Question = Required<Message>;

interface Stored {
  token?: string | undefined;
  messages: Message[];
}

/** The API has refused a message. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The server or the network is away: the same message can succeed later. */
export class Unreachable extends Error {}

/** Codes of a service that is about to return. */
const PASSING = ["STOPPING", "AGENT_CHANGING", "BACKEND_UNAVAILABLE"];
/** The owner has taken the site out. */
export const NOT_ADMITTED = "FOREIGN_ORIGIN";
const MAX_MESSAGES = 100;

export interface Conversation {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** Adds what the visitor writes. */
  ask(text: string): Question;
  /** A message of the visitor was answered, or, without a reply, refused. */
  close(id: string, reply?: string): void;
  /** Forgets everything: the next message is that of a new visitor. */
  clear(): void;
  /**
   * Sends a message and resolves with the reply. `onText` gets the reply so far, each time it grows.
   * Rejects with Refusal, Unreachable, or the signal's reason.
   */
  send(message: Question, onText: (text: string) => void, signal: AbortSignal): Promise<string>;
  /** Ends the answer to a message at the server. */
  stop(id: string): void;
  /** Calls back when another tab has changed the conversation. */
  onChange(changed: () => void): void;
}

/**
 * @param address of the agent's chat
 * @param storage undefined where it is forbidden: the conversation then ends with the page
 */
export function openConversation(address: string, key: string, storage: Storage | undefined): Conversation {
  let stored: Stored = { messages: [] };
  refresh();

  function refresh(): void {
    if (!storage) return;
    try {
      const found = JSON.parse(storage.getItem(key) ?? "null") as Stored | null;
      stored = Array.isArray(found?.messages) ? found : { messages: [] };
    } catch {
      // Forbidden by now, or not ours.
    }
  }
  /** Changes what is stored. Another tab may have written, without this one having heard of it yet. */
  function change(messages: (before: readonly Message[]) => readonly Message[], token?: string): void {
    refresh();
    stored = { token: token ?? stored.token, messages: messages(stored.messages).slice(-MAX_MESSAGES) };
    try {
      storage?.setItem(key, JSON.stringify(stored));
    } catch {
      // Full, or forbidden by now: the conversation lasts as long as the page.
      storage = undefined;
    }
  }

  const post = (path: string, body: object, more: RequestInit = {}) =>
    fetch(`${address}/${path}`, {
      method: "POST",
      body: JSON.stringify({ ...body, ...(stored.token && { visitor: stored.token }) }),
      credentials: "omit",
      referrerPolicy: "no-referrer",
      ...more,
      headers: { "content-type": "application/json", ...more.headers },
    });

  return {
    get messages() {
      return stored.messages;
    },
    ask(text) {
      const question = { by: "visitor", text, id: crypto.randomUUID(), isOpen: true } as const;
      change((before) => [...before, question]);
      return question;
    },
    close: (id, reply) =>
      change((before) =>
        before.flatMap((one): Message[] => {
          if (one.id !== id) return [one];
          if (one.by === "agent") return [];
          const answer = reply === undefined ? [] : [{ by: "agent" as const, text: reply, id }];
          return [{ by: one.by, text: one.text, id }, ...answer];
        }),
      ),
    clear() {
      stored = { messages: [] };
      try {
        storage?.removeItem(key);
      } catch {
        // There was nothing then.
      }
    },
    onChange: (changed) =>
      window.addEventListener("storage", ({ storageArea, key: of }) => {
        // Null: everything of the site was removed.
        if (storageArea !== storage || (of !== key && of !== null)) return;
        refresh();
        changed();
      }),
    stop: (id) => void post("stop", { id }, { keepalive: true }).catch(() => undefined),
    async send({ text: message, id }, onText, signal) {
      const request = () =>
        reach(signal, () => post("messages", { message, id }, { headers: { accept: "text/event-stream" }, signal }));
      const response = await request().catch(async (error: unknown) => {
        signal.throwIfAborted();
        if (!(await isAnswering(address))) throw error;
        // The network may have been back for the second question only.
        return request().catch((again: unknown) => {
          signal.throwIfAborted();
          throw again instanceof Unreachable ? new Refusal(NOT_ADMITTED, "") : again;
        });
      });
      if (!response.ok) throw await refusalOf(response);
      let text = "";
      const events = readEvents(response);
      for (;;) {
        const { done, value } = await reach(signal, () => events.next());
        if (done) throw new Unreachable();
        const [event, data] = value;
        if (event === "visitor") change((before) => before, String(data.visitor));
        else if (event === "delta") {
          text += String(data.text);
          onText(text);
        } else if (event === "reply") return String(data.reply);
        else if (event === "error") throw errorOf(data);
      }
    },
  };
}

/** Turns failures of the network into Unreachable. */
async function reach<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Refusal ? error : new Unreachable();
  }
}

type Data = Readonly<Record<string, unknown>>;

function errorOf({ code, error }: Data): Error {
  return PASSING.includes(String(code)) ? new Unreachable() : new Refusal(String(code), String(error));
}

/** A proxy answers for a server that is away, without Berth's error body. */
async function refusalOf(response: Response): Promise<Error> {
  try {
    const body = (await response.json()) as Data;
    return typeof body.code === "string" ? errorOf(body) : new Unreachable();
  } catch {
    return new Unreachable();
  }
}

/** Yields the server-sent events of a response as they arrive (WHATWG HTML §9.2). */
async function* readEvents({ body }: Response): AsyncGenerator<[event: string, data: Data]> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const frames = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const fields = new Map(
        frame.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
      );
      const data = fields.get("data");
      if (data) yield [fields.get("event")?.trim() ?? "", JSON.parse(data) as Data];
    }
  }
}
