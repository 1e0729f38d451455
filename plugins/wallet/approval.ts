// The owner's word on a spend that waits for it.
import type { Statement } from "../../src/database.ts";
import type { Ledger, Spend } from "./ledger.ts";
import type { SpendingSteps } from "./spending.ts";
import type { Trading } from "./trade.ts";

interface Deps {
  ledger: Ledger;
  steps: Pick<SpendingSteps, "settled">;
  trading: Pick<Trading, "renewed">;
  wake(spend: Spend): Statement;
}

/**
 * Yes: from then on it is as if it had been asked for now, a trade at today's price, though never for less than was shown.
 * Throws 404 `SPEND_NOT_FOUND`, 409 `SPEND_NOT_WAITING`, 403 `POLICY_DENIED`, and of a trade 409 `PRICE_MOVED`, 400
 * `NO_ROUTE`, 500 `CHAIN_UNAVAILABLE`: it goes on waiting then.
 */
export function createApproval({ ledger, steps, trading, wake }: Deps) {
  return async (userId: string, id: string): Promise<Spend> => {
    const spend = await ledger.waiting(userId, id);
    const renewed = spend.kind === "trade" ? await trading.renewed(spend) : undefined;
    return steps.settled(await ledger.approve(spend, [wake(spend)], renewed));
  };
}
