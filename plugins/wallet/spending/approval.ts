// The owner's word on a spend that waits for it.
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
 * Yes: from then on it is as if it had been asked for now, a trade at today's price, though never for less than was shown.
 * Throws 404 `SPEND_NOT_FOUND`, 409 `SPEND_NOT_WAITING`, 403 `POLICY_DENIED`, and of a trade 409 `PRICE_MOVED`, 400
 * `NO_ROUTE`, 500 `CHAIN_UNAVAILABLE`: it goes on waiting then.
 */
export function createApproval({ ledger, steps, trading, wakeStatement }: Deps) {
  return async (userId: string, id: string): Promise<Spend> => {
    const spend = await ledger.requireWaiting(userId, id);
    const repriced = spend.kind === "trade" ? await trading.reprice(spend) : undefined;
    return steps.waitForOutcome(await ledger.approve(spend, [wakeStatement(spend)], repriced));
  };
}
