// The runtime accepts messages of every platform and answers them: this file makes it a plugin, with its routes.

import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { agentStats } from "../agent-stats/index.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { approvals } from "../approvals/index.ts";
import { auth } from "../auth/index.ts";
import { newAccountSettings } from "../auth/settings.ts";
import { skills } from "../skills/index.ts";
import { uploads } from "../uploads/index.ts";
import { backendRoutes, createTurnRequestHandler } from "./backend-routes.ts";
import { createConversations } from "./conversations/conversations.ts";
import { agentDeletedError } from "./errors.ts";
import { sealContext } from "./journal/journal.ts";
import { createAgentMessages } from "./live/agent-messages.ts";
import { createAskOnce } from "./live/keyed-messages.ts";
import { createLatestTurn } from "./live/latest-turn.ts";
import { createRuntime } from "./runtime.ts";

export type { BackupChange, ImportedPages, MessageRow, SessionExtent, SessionRow } from "./backup/backup-rows.ts";
export { addEntries } from "./backup/imported-entries.ts";
export { noAgentError, TURN_ERRORS } from "./errors.ts";
export { COMMANDS, type OwnerCommand, parseCommand } from "./inbox/commands.ts";
export { type InboundMessage, type InboxEntry, platformIds } from "./inbox/entries.ts";
export type { SentMessage } from "./inbox/sent-messages.ts";
export { noticeIdOf } from "./journal/suspensions.ts";
export type { AgentMessage, AgentTurn, NamedMessage } from "./live/detached-turns.ts";
export { chatEvent, turnEvent, visitorEvent, visitorEvents } from "./live/event-schemas.ts";
export { IDEMPOTENCY_KEY } from "./live/keyed-messages.ts";
export type { TurnFrame } from "./live/turn-stream.ts";
export { chatReply, type TurnBody } from "./model.ts";
export type { ChannelConversation } from "./outbox/channel-conversations.ts";
export type * from "./platforms.ts";
export type { Language, ReaderLanguage } from "./reader-language.ts";
export { type SentFile, sentFile, sentFiles } from "./reply-files/sent-files.ts";
export type { ScheduledOutcome, SettlementEffects } from "./scheduled-prompts.ts";
export type { HistoryMessage } from "./sessions/history.ts";
export { newSessionId, type Session } from "./sessions/sessions.ts";
export { topicPeer } from "./sessions/topics.ts";
export { eventStream } from "./sse.ts";
export type { Reply } from "./turn/running-turns.ts";
export type { Observer, ToolEvent } from "./turn/tool-calls.ts";
export { type ChatRequest, unlessStored } from "./turn/turn-requests.ts";

export const runtime = plugin("runtime", (host) => {
  const { kernel } = host;
  const agentService = host.use(agents);
  const authService = host.use(auth);
  const newAccounts = kernel.config.of(newAccountSettings);
  const loadNewAccountLimits = once(async () =>
    (await import("./outbox/new-account-limits.ts")).createNewAccountLimits({
      ...kernel,
      ...authService,
      perDay: newAccounts.messagesPerDay,
    }),
  );
  const services = { agents: agentService, ai: host.use(ai) };
  const { service, sessions, start, stop, ...turns } = createRuntime({
    ...kernel,
    ...services,
    skills: host.use(skills),
    approvals: host.use(approvals),
    uploads: host.use(uploads),
    agentStats: host.use(agentStats),
    users: authService.users,
    newAccountLimits:
      newAccounts.days === 0 ? undefined : { take: async (...given) => (await loadNewAccountLimits()).take(...given) },
  });
  kernel.keyRotation.registerColumn({
    label: "steps of turns",
    table: "turn_steps",
    keyColumns: ["agent_id", "turn_id", "seq"],
    sealed: "sealed",
    where: "sealed IS NOT NULL",
    sealContext: ({ agent_id, turn_id, seq }) => sealContext(agent_id, turn_id, seq),
  });
  const { guards } = agentService;
  const uploadService = host.use(uploads);
  const messageList = once(async () => {
    const [{ messageRoutes }, { createMessageList }] = await Promise.all([
      import("./sessions/message-routes.ts"),
      import("./sessions/message-list.ts"),
    ]);
    return messageRoutes({ agents: agentService, messageList: createMessageList(kernel), uploads: uploadService });
  });
  const conversations = createConversations({
    ...kernel,
    ...services,
    ...turns,
    auth: host.use(auth),
    uploads: uploadService,
  });
  const agentMessages = createAgentMessages({
    ...kernel,
    chat: service.chat,
    detachedTurns: turns.detachedTurns,
    outcomeOf: conversations.outcome,
  });
  const askOnce = createAskOnce({
    ...kernel,
    chat: service.chat,
    outcomeOf: conversations.outcome,
    async current({ id }) {
      const found = await agentService.find(id);
      if (!found) throw agentDeletedError();
      return found;
    },
    requireReady: turns.detachedTurns.requireReady,
  });
  const handleTurnRequest = createTurnRequestHandler({ chat: service.chat, askOnce });
  return {
    backend: backendRoutes({ guards, handleTurnRequest, sessions }),
    lateRoutes: {
      web: [async () => (await messageList()).web, conversations.web],
      backend: [async () => (await messageList()).backend, conversations.backend],
    },
    service: {
      ...service,
      conversationReaders: conversations.readers,
      handleTurnRequest,
      agentMessages,
      followTurn: conversations.follow,
      /** Streams a turn to its agent's owner, on the web surface. */
      streamToOwner: conversations.ownerStreams,
      /** The events of a turn, for code on the backend. */
      turnEvents: conversations.events,
      latestTurn: createLatestTurn(kernel),
    },
    start,
    async stop() {
      conversations.close();
      await stop();
    },
    ready: () => kernel.jobs.ready(),
  };
});
