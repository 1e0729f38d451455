// Approves a spend that waits for its owner.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Ledger, Spend } from "./ledger.ts";
import type { SpendingSteps } from "./spending-steps.ts";
import type { Trading } from "./trading.ts";

interface Deps {
  ledger: Ledger;
  steps: Pick<SpendingSteps, "waitForOutcome">;
  trading: Pick<Trading, "reprice">;
  wakeStatement(spend: Spend): Statement;
}

/**
 * Approves the spend and waits up to ten seconds for its outcome. The policy is checked again, and a trade is repriced,
 * but never for less than the owner was shown. Throws 404 `SPEND_NOT_FOUND`, 409 `SPEND_NOT_WAITING`, 403
 * `POLICY_DENIED`, and for a trade 409 `PRICE_MOVED`, 400 `NO_ROUTE`, 500 `CHAIN_UNAVAILABLE`; the spend keeps waiting
 * then.
 */
export function createApproval({ ledger, steps, trading, wakeStatement }: Deps) {
  return async (userId: string, id: string): Promise<Spend> => {
    const spend = await ledger.requireWaiting(userId, id);
    const repriced = spend.kind === "trade" ? await trading.reprice(spend) : undefined;
    return steps.waitForOutcome(await ledger.approve(spend, [wakeStatement(spend)], repriced));
  };
}
