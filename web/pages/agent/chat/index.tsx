// An agent's conversations, and the one that is open. A phone shows one of both.

import { useLocation, useParams } from "wouter";
import { useTitle } from "../../../parts/page/page.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { useOtherTabs } from "./chat-data.ts";
import { Conversation } from "./conversation.tsx";
import { ConversationList } from "./conversation-list.tsx";

/** The address of a conversation that is about to begin. */
const NEW = "new";

export default function ChatPage() {
  const agent = useAgent();
  const { conversationId } = useParams<{ conversationId?: string }>();
  const [, navigate] = useLocation();
  useTitle(t("Chat with {name}", { name: agent.name }));
  useOtherTabs(agent.id);
  const id = conversationId === NEW ? undefined : conversationId;
  return (
    <div className="flex min-h-0 flex-1 overflow-hidden border-edge border-y bg-card md:mb-4 md:rounded-large md:border">
      <div
        className={`${conversationId ? "hidden md:flex" : "flex"} min-h-0 w-full shrink-0 border-edge md:w-72 md:border-r`}
      >
        <ConversationList agentId={agent.id} selected={id} />
      </div>
      <div className={`${conversationId ? "flex" : "hidden md:flex"} min-h-0 min-w-0 flex-1`}>
        <Conversation
          key={`${agent.id} ${id ?? NEW}`}
          agent={agent}
          id={id}
          onBegun={(begun) => navigate(`/agents/${agent.id}/chat/${begun}`, { replace: true })}
        />
      </div>
    </div>
  );
}
