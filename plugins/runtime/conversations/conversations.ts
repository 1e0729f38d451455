// Composes what an agent's owner sees and does in conversations: lists, turns, live streams, and messages that run by themselves.
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { once } from "../../../src/kernel/util/cache.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { ai as aiPlugin } from "../../ai/index.ts";
import type { auth } from "../../auth/index.ts";
import type { UploadService } from "../../uploads/index.ts";
import type { RecallSuspended } from "../journal/suspended-turns.ts";
import type { DetachedTurns } from "../live/detached-turns.ts";
import type { LiveTurns } from "../live/live-turns.ts";
import { createTurnStream } from "../live/turn-stream.ts";
import { createOwnerStreams } from "./owner-streams.ts";
import type { ShownSteps } from "./shown-steps.ts";
import { createTurnList } from "./turn-list.ts";

interface Deps extends Pick<Kernel, "database" | "log" | "backend" | "config" | "idempotency"> {
  agents: ServiceOf<typeof agentsPlugin>;
  ai: Pick<ServiceOf<typeof aiPlugin>, "callsOfTurns">;
  auth: Pick<ServiceOf<typeof auth>, "identities" | "onSessionRevoked">;
  steps: ShownSteps;
  liveTurns: LiveTurns;
  detachedTurns: DetachedTurns;
  recallSuspended: RecallSuspended;
  uploads: Pick<UploadService, "ofMessages" | "ofReplies">;
}

export function createConversations(deps: Deps) {
  const { database, log, agents, ai, auth, steps, liveTurns, detachedTurns, recallSuspended, uploads } = deps;
  const turnList = createTurnList({ database, ai, steps, uploads });
  const turnStream = createTurnStream({ log, liveTurns, turnList, recallSuspended });
  auth.onSessionRevoked((sessionId) => turnStream.end((reader) => reader.sessionId === sessionId));
  agents.onDelete((agentId) => turnStream.end((reader) => reader.agentId === agentId));
  const { identities } = auth;
  const ownerStreams = createOwnerStreams({ ...deps, identities, turnStream });
  const readers = once(async () => {
    const [{ createConversationList }, { createConversationMessages }, { findAnswers }] = await Promise.all([
      import("./conversation-list.ts"),
      import("./conversation-messages.ts"),
      import("./journal-view.ts"),
    ]);
    return {
      conversations: createConversationList({ database }),
      messages: createConversationMessages({ database, turnList, steps, uploads }),
      /** What the model said with its calls of tools, in each of these turns whose journal is kept. */
      answers: (agentId: string, turnIds: readonly string[]) => findAnswers(database, agentId, turnIds),
    };
  });
  return {
    outcome: turnList.outcome,
    follow: turnStream.follow,
    events: turnStream.events,
    ownerStreams,
    /** What lists conversations and reads one; made at the first use. */
    readers,
    async web() {
      const { webRoutes } = await import("./web-routes.ts");
      return webRoutes({ ...deps, ...(await readers()), identities, turnList, ownerStreams });
    },
    backend: async () => (await import("./backend-routes.ts")).backendRoutes({ agents, detachedTurns, turnStream }),
    close: turnStream.close,
  };
}
