// Decides requests for approval by the codes that owners type in a chat.
import { AppError } from "../../../src/kernel/errors.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { approvals as approvalsPlugin } from "../../approvals/index.ts";
import type { CommandDeps } from "../turn/command-runner.ts";

interface Deps {
  approvals: Pick<ServiceOf<typeof approvalsPlugin>, "findByCode" | "decide">;
}

export const createCodeDecisions =
  ({ approvals }: Deps): CommandDeps["decideByCode"] =>
  async (agent, { code, name, platform, language }) => {
    const found = await approvals.findByCode(agent.id, code);
    if (!found) return undefined;
    try {
      const { summary: what } = await approvals.decide(agent, found.id, { decision: name }, platform);
      return name === "approve"
        ? translateText("Approved: {what}", language, { what })
        : translateText("Denied: {what}", language, { what });
    } catch (error) {
      // Somebody was faster, or it is too late.
      if (error instanceof AppError && error.code === "EXPIRED") {
        return translateText("This request has expired. Ask me again if the call is still wanted.", language);
      }
      if (error instanceof AppError && error.code === "ALREADY_DECIDED") {
        return language === "en" ? error.message : translateText("This request is decided already.", language);
      }
      if (error instanceof AppError && error.status < 500) return error.message;
      throw error;
    }
  };
