// Builds the statements that store the outcome of an attempt: delivered, to be retried, or given up.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { disableStatements } from "../endpoints/endpoint-statements.ts";
import type { AttemptOutcome } from "./delivery-attempt.ts";
import type { ClaimedDelivery } from "./delivery-rows.ts";
import { retryDelayAfter } from "./retry-schedule.ts";

/** Changes a delivery only if it is still claimed by this attempt: it may have been replayed or removed meanwhile. */
const settleStatement = (
  { id, claimedUntil }: ClaimedDelivery,
  set: string,
  args: (string | number | null)[],
): Statement => ({
  sql: `UPDATE webhook_deliveries SET claimed_until = NULL, ${set} WHERE id = ? AND claimed_until = ? AND status = 'pending'`,
  args: [...args, id, claimedUntil],
});

/** `now`: epoch ms. */
export function outcomeStatements(claimed: ClaimedDelivery, outcome: AttemptOutcome, now: number): Statement[] {
  switch (outcome.kind) {
    case "stopped":
      return [settleStatement(claimed, "status = 'pending'", [])];
    case "delivered": {
      const set = `status = 'delivered', attempts = attempts + 1, last_status = ?, last_error = NULL,
          next_attempt_at = NULL, delivered_at = ?`;
      return [settleStatement(claimed, set, [outcome.status, now])];
    }
    case "lost":
      return [settleStatement(claimed, "status = 'failed', last_error = ?, next_attempt_at = NULL", [outcome.error])];
    case "gone": {
      const reason = "The receiver answered 410 Gone: it wants no more events.";
      const set = "status = 'failed', attempts = attempts + 1, last_status = ?, last_error = ?, next_attempt_at = NULL";
      return [
        settleStatement(claimed, set, [outcome.status, reason]),
        ...disableStatements(claimed.endpointId, reason, now),
      ];
    }
    case "failed": {
      const delay = retryDelayAfter(claimed.attempts + 1, outcome.retryAfter);
      const nextAttemptAt = delay === undefined ? null : now + delay;
      const set = "status = ?, attempts = attempts + 1, last_status = ?, last_error = ?, next_attempt_at = ?";
      const status = nextAttemptAt === null ? "failed" : "pending";
      return [settleStatement(claimed, set, [status, outcome.status ?? null, outcome.error, nextAttemptAt])];
    }
  }
}
