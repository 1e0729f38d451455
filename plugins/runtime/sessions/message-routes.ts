// Routes on both surfaces that list an agent's messages.
import { Elysia, type Static } from "elysia";
import { channelIds } from "../../../channels/registry.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";
import { readLimit, readOffset } from "../../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { ReplyFile, UploadService } from "../../uploads/index.ts";
import { type Platform, platformIds } from "../inbox/entries.ts";
import { type AgentMessage, createMessagesPage, messagesQuery } from "../model.ts";
import { withFiles } from "../reply-files/sent-files.ts";
import type { ListedMessage, MessageList } from "./message-list.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  messageList: MessageList;
  uploads: Pick<UploadService, "ofReplies">;
}

export function messageRoutes({ agents, messageList, uploads }: Deps) {
  async function page({ agent, query }: { agent: { id: string }; query: Static<typeof messagesQuery> }) {
    const limit = readLimit(query.limit, DEFAULT_LIMIT, MAX_LIMIT);
    const offset = readOffset(query.offset);
    const { messages: found, nextCursor } = await messageList.page(agent.id, {
      limit,
      offset,
      cursor: query.cursor,
      platforms: readInclude(query.include),
    });
    const files = await uploads.ofReplies(
      agent.id,
      found.flatMap(({ turnId = [] }) => turnId),
    );
    const messages = found.map((message) => toMessageView(agent.id, message, files.get(message.turnId ?? "")));
    return { messages, total: offset + messages.length, limit, offset, nextCursor, status: "ok" as const };
  }
  const route = {
    query: messagesQuery,
    response: { 200: createMessagesPage(channelIds()) },
    detail: {
      tags: ["Agents"],
      summary: "List the messages of an agent's channels and its replies, newest first",
      description:
        "This is not the whole history: without `include=all`, it has the messages of messaging platforms alone, none of the web and the API, so it " +
        "may be empty. The history of all is in `GET /api/agents/{id}/conversations`. Pages follow the order in which messages arrived, each with its reply; a page is sorted by time. " +
        "Messages that `reset-memory` erased are not listed; those of an imported agent are.",
    },
  };
  const path = "/api/agents/:id/messages";
  return {
    web: new Elysia({ name: "runtime.archive" })
      .use(agents.guards)
      .get(path, page, { ownAgent: { scope: "read", kind: "data" }, ...route }),
    backend: new Elysia({ name: "runtime.archive.backend" })
      .use(agents.guards)
      .get(path, page, { agentCall: "agent.read", ...route }),
  };
}

function readInclude(given: string | undefined): readonly Platform[] {
  if (given === undefined) return channelIds();
  if (given === "all") return platformIds();
  throw invalidInput({ path: "include", message: "Leave it out, or give `all`." });
}

const toMessageView = (
  agentId: string,
  { id, sender, content, at, platform }: ListedMessage,
  files: readonly ReplyFile[] | undefined,
): AgentMessage => ({
  id,
  agentId,
  sender,
  content,
  ...withFiles(agentId, files),
  timestamp: new Date(at).toISOString(),
  platform,
});
