// Stores the messages of clients, each once under a key of its sender's: a repeated one gets the turn of the first.
import { Buffer } from "node:buffer";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent } from "../agents/index.ts";
import { type AgentTurn, type runtime as runtimePlugin, topicPeer } from "../runtime/index.ts";
import { TAINT } from "../skills/index.ts";
import { toUploadedFile, type UploadService } from "../uploads/index.ts";

/** A file within a message. */
export interface ClientFile {
  name: string;
  /** As the client says. */
  type: string;
  /** Base64. */
  data: string;
}

export interface ClientMessage {
  /** The id of a conversation of the web (`sess_…`), or the address of one of the API. */
  conversation: string;
  /** The same key is the same message, in whichever conversation. */
  key: string;
  /** Text that looks like a command, such as `/approve`, is none. */
  text: string;
  files?: readonly ClientFile[] | undefined;
  /** Ids of uploads. */
  attachments?: readonly string[] | undefined;
}

interface Deps {
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "agentMessages">;
  uploads: Pick<UploadService, "add">;
}

/** Messages with one key: as many as failed, and the one that did not. */
const MAX_TRIES = 20;

/** The conversation as the inbox addresses it. Conversations of the web go on there; all others are of the API. */
export const addressOf = (conversation: string) =>
  /^sess_[0-9a-f]{16}$/.test(conversation)
    ? { platform: "web" as const, to: { sessionId: conversation } }
    : { platform: "api" as const, to: { peer: conversation } };

/** The conversation of a topic, as `POST /api/chat` names them. */
export const topicConversation = topicPeer;

export function createClientMessages({ runtime: { agentMessages }, uploads }: Deps) {
  /** The turn of this message, unless it failed or was cancelled; and the id under which a new try is stored. */
  async function findTurn(agent: Agent, platform: "web" | "api", key: string) {
    for (let n = 1; ; n++) {
      const messageId = n === 1 ? key : `${key}#${n}`;
      const found = await agentMessages.find(agent.id, { platform, messageId });
      if (!found) return { messageId };
      const outcome = await agentMessages.outcome(agent, found.turnId);
      const isOver = outcome?.status === "failed" || outcome?.status === "cancelled";
      if (!isOver || n === MAX_TRIES) return { messageId, found };
    }
  }

  return {
    /**
     * Stores the message and its files; its turn runs by itself. `isNew`: it was not stored before. A message whose turn failed
     * or was cancelled is tried again. Throws as the runtime does, and 400 for a file that is none.
     */
    async accept(agent: Agent, message: ClientMessage): Promise<AgentTurn & { isNew: boolean }> {
      const { conversation, key, text, files = [], attachments = [] } = message;
      const address = addressOf(conversation);
      const { found, messageId } = await findTurn(agent, address.platform, key);
      if (found) return { turnId: found.turnId, conversationId: found.conversationId, isNew: false };
      const added: string[] = [];
      for (const [n, file] of files.entries()) added.push((await uploads.add(agent, decodeFile(file, n))).id);
      return agentMessages.sendOnce(agent, {
        ...address,
        messageId,
        sender: { id: agent.userId, name: "" },
        byOwner: true,
        taint: TAINT.none,
        text,
        ...(added.length + attachments.length > 0 && { attachments: [...attachments, ...added] }),
      });
    },
  };
}

export type ClientMessages = ReturnType<typeof createClientMessages>;

function decodeFile({ name, type, data }: ClientFile, n: number) {
  // Buffer skips what is no base64, and would make another file of it.
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(data)) {
    throw invalidInput({ path: `files.${n}`, message: "This file is not valid base64." });
  }
  return toUploadedFile({ name, type, bytes: new Uint8Array(Buffer.from(data, "base64")) });
}
