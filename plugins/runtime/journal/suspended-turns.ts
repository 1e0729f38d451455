// Tells readers that join while a turn waits for its owner's approval what it has said and done, and which calls wait: nothing of it is
// kept in memory meanwhile, also over a restart.
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { approvals as approvalsPlugin } from "../../approvals/index.ts";
import { waitingForApproval } from "../errors.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { LiveTurns } from "../live/live-turns.ts";
import type { Journal } from "./journal.ts";
import { NO_END } from "./steps.ts";

interface Deps {
  approvals: Pick<ServiceOf<typeof approvalsPlugin>, "pendingOfTurn">;
  inbox: Pick<Inbox, "find">;
  journal: Journal;
  liveTurns: Pick<LiveTurns, "recall">;
}

/** The turn is kept already. Does nothing for one that waits for its place alone. */
export type RecallSuspended = (agentId: string, turnId: string) => Promise<void>;

export function createSuspendedTurns({ approvals, inbox, journal, liveTurns }: Deps): RecallSuspended {
  return async (agentId, turnId) => {
    const found = await inbox.find(agentId, turnId);
    if (found?.status !== "pending" || found.entry.suspended !== true) return;
    const [{ answers }, waiting] = await Promise.all([
      journal.open(found.entry),
      approvals.pendingOfTurn(agentId, turnId),
    ]);
    liveTurns.recall(
      turnId,
      (observer) => {
        let gap = "";
        for (const { text, calls } of answers) {
          if (text !== "") observer.delta(gap + text);
          if (text !== "") gap = "\n\n";
          for (const { id, tool, input } of calls) observer.step?.({ id, tool, input });
          for (const { id, tool, input, startedAt, end } of calls) {
            const { ok, text: result, at } = end ?? NO_END;
            if (end) observer.step?.({ id, tool, input, ended: { ok, result, ms: at - (startedAt ?? at) } });
          }
        }
        const callsBySeq = new Map(answers.flatMap(({ calls }) => calls).map((call) => [call.seq, call]));
        for (const { id, step, tool, class: toolClass, summary } of waiting) {
          const call = step === null ? undefined : callsBySeq.get(step);
          if (call) observer.approval({ id, callId: call.id, tool, class: toolClass, summary });
        }
      },
      waitingForApproval(),
    );
  };
}
