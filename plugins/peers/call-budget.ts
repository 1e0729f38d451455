// Limits how many agents are asked for one message of a person, over all agents that work on it.
import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import { type ToolContext, toolDeclined } from "../skills/index.ts";

/** Calls for one message; without it, four hops with eight calls each would be thousands of turns. */
export const MAX_CALLS = 16;
const MAX_MESSAGES = 10_000;

type Caller = Pick<ToolContext, "agentId" | "peer" | "inboxId">;

interface Deps {
  /** The calls of agents that the turn of this message has ended before, in an earlier process. */
  countEarlierCalls(agentId: string, inboxId: string): Promise<number>;
}

/** The calls of one person's message so far. */
interface Spent {
  calls: number;
}

export type CallBudget = ReturnType<typeof createCallBudget>;

export function createCallBudget({ countEarlierCalls }: Deps) {
  /** By the message that an agent answers. After a restart the agent's own calls count, and not those of the asked agents. */
  const byMessage = createBoundedMap<Promise<Spent>>(MAX_MESSAGES);
  /** By conversations in which an agent answers another one now, with the number of messages that wait there. */
  const byConversation = new Map<string, { spent: Spent; waiting: number }>();
  const load = async ({ agentId, inboxId }: Caller): Promise<Spent> => ({
    calls: await countEarlierCalls(agentId, inboxId),
  });
  const keyOf = (agentId: string, peer: string) => `${agentId} ${peer}`;

  return {
    /** Counts a call for as long as it runs: what the asked agent asks others counts for the same message. */
    async during<Result>(caller: Caller, to: { agentId: string; peer: string }, work: () => Promise<Result>) {
      const asking = byConversation.get(keyOf(caller.agentId, caller.peer))?.spent;
      const known = asking ? Promise.resolve(asking) : (byMessage.get(caller.inboxId) ?? load(caller));
      byMessage.set(caller.inboxId, known);
      const spent = await known.catch((error: unknown) => {
        byMessage.delete(caller.inboxId);
        throw error;
      });
      if (++spent.calls > MAX_CALLS) {
        throw toolDeclined(`For one message at most ${MAX_CALLS} agents are asked. Answer with what you have.`);
      }
      const key = keyOf(to.agentId, to.peer);
      const open = byConversation.get(key) ?? { spent, waiting: 0 };
      byConversation.set(key, open);
      open.waiting++;
      try {
        return await work();
      } finally {
        if (--open.waiting === 0) byConversation.delete(key);
      }
    },
  };
}
