// Decides requests for approval by the codes that owners type in a chat.
import { AppError } from "../../../src/kernel/errors.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { approvals as approvalsPlugin } from "../../approvals/index.ts";
import type { CommandDeps } from "../turn/command-runner.ts";

interface Deps {
  approvals: Pick<ServiceOf<typeof approvalsPlugin>, "findByCode" | "decide">;
}

export const createCodeDecisions =
  ({ approvals }: Deps): CommandDeps["decideByCode"] =>
  async (agent, code, decision, platform) => {
    const found = await approvals.findByCode(agent.id, code);
    if (!found) return undefined;
    try {
      const { summary } = await approvals.decide(agent, found.id, { decision }, platform);
      return decision === "approve" ? `Approved: ${summary}` : `Denied: ${summary}`;
    } catch (error) {
      // Somebody was faster, or it is too late.
      if (error instanceof AppError && error.status < 500) return error.message;
      throw error;
    }
  };
