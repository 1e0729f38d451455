// Chooses the conversation in which an agent answers a request, and names its messages.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent } from "../agents/index.ts";
import type { SourceRequest } from "../openai-api/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import { digest, isTaskOfApp, type NewMessage } from "./new-message.ts";

type Runtime = Pick<ServiceOf<typeof runtimePlugin>, "agentMessages" | "latestTurn" | "sessions">;
type Names = Pick<SourceRequest, "previous" | "conversation" | "metadata" | "user" | "idempotencyKey">;

/** The fields of `metadata` in which clients name a conversation, in this order. */
const METADATA_FIELDS = [
  "conversation_id",
  "conversationId",
  "chat_id",
  "chatId",
  "thread_id",
  "threadId",
  "session_id",
];
const MAX_NAME = 200;
const WEB_SESSION = /^sess_[0-9a-f]{16}$/;

/** Message ids: `model:`, the chain of the user's messages, what the app says, and what tells equal ones apart. */
const idOf = (chain: string, system: string, rest: string) => `model:${chain}:${system}:${rest}`;
const systemOf = (messageId: string | null) => messageId?.split(":")[2];

/** Characters of what an app says to the model. */
const MAX_SYSTEM = 8_000;

export interface Placed {
  /** A conversation as `ClientMessages` addresses it. */
  conversation: string;
  /** Names the message, once for each idempotency key. */
  key: string;
  text: string;
}

export function createPlacement({ agentMessages, latestTurn, sessions }: Runtime) {
  /** The conversation that the client names, by the most exact name that it gives. */
  async function namedConversation(agent: Agent, request: Names): Promise<string | undefined> {
    const { previous, conversation, metadata, user } = request;
    if (previous?.state !== undefined) return previous.state;
    const name = conversation ?? METADATA_FIELDS.map((field) => metadata[field]).find((value) => value?.trim());
    if (name !== undefined && WEB_SESSION.test(name)) {
      const session = await sessions.find(agent.id, name);
      if (session?.platform === "web") return name;
    }
    if (name !== undefined) return address("c", name);
    return user?.trim() ? address("u", user) : undefined;
  }

  /** The conversation whose user has said the same before, and whose agent has answered what the client shows. */
  async function recognizedConversation(agent: Agent, message: NewMessage): Promise<string | undefined> {
    if (message.earlierChain === undefined) return undefined;
    const found = await agentMessages.withPrefix(agent.id, "api", `model:${message.earlierChain}:`);
    const shown = plain(message.lastAnswer);
    const isSame = (reply: string | null) => reply !== null && shown.includes(plain(reply));
    return (found.find(({ reply }) => isSame(reply)) ?? found[0])?.peer;
  }

  /** Whether the app has said this to the model in this conversation already, with the last message. */
  async function isKnown(agent: Agent, conversation: string, system: string): Promise<boolean> {
    const at = WEB_SESSION.test(conversation)
      ? { conversationId: conversation }
      : { platform: "api", peer: conversation };
    return systemOf((await latestTurn(agent.id, at))?.messageId ?? null) === system;
  }

  return async (agent: Agent, request: Names, message: NewMessage): Promise<Placed> => {
    const { text, system, chain } = message;
    const conversation = isTaskOfApp(text)
      ? address("task", crypto.randomUUID())
      : ((await namedConversation(agent, request)) ??
        (await recognizedConversation(agent, message)) ??
        address("new", crypto.randomUUID()));
    const said = system === "" ? "" : digest(system);
    const isNews = said !== "" && !(await isKnown(agent, conversation, said));
    const { idempotencyKey } = request;
    const rest = idempotencyKey === undefined ? crypto.randomUUID() : digest(idempotencyKey);
    return { conversation, key: idOf(chain, said, rest), text: isNews ? withSystem(system, text) : text };
  };
}

/** In the message itself, with its trust: an agent's instructions are its owner's, in its configuration. */
const withSystem = (system: string, text: string) =>
  `The app through which this message came says:\n${system.slice(0, MAX_SYSTEM).toWellFormed()}\n\nThe message:\n${text}`;

const address = (kind: string, name: string) => `model:${kind}:${name.length > MAX_NAME ? digest(name) : name.trim()}`;

const plain = (text: string) => text.replace(/\s+/g, " ").trim();
