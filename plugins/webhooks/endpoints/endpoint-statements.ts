// Statements that switch off or delete webhook endpoints, for the batches of other writes.
import type { Statement } from "../../../src/kernel/database/database.ts";

/** The number of the newest event: an endpoint receives those after it. */
export const LATEST_SEQ_SQL = "(SELECT coalesce(max(seq), 0) FROM events)";

/** Switches the endpoint off and gives up its pending deliveries. */
export const disableStatements = (id: string, reason: string, now: number): Statement[] => [
  {
    sql: "UPDATE webhook_endpoints SET active = 0, disabled_reason = ?, updated_at = ? WHERE id = ? AND active = 1",
    args: [reason, now, id],
  },
  {
    sql: `UPDATE webhook_deliveries SET status = 'failed', last_error = ?, next_attempt_at = NULL, claimed_until = NULL
      WHERE endpoint_id = ? AND status = 'pending'`,
    args: [reason, id],
  },
];

/** Deletes a user's endpoints when the account is reclaimed: a stranger may have created them to receive its events. */
export const deleteEndpointsStatement = (userId: string): Statement => ({
  sql: "DELETE FROM webhook_endpoints WHERE user_id = ?",
  args: [userId],
});

/** Deletes the endpoints of deleted users that have nothing pending and, if active, no event of that user to come. */
export const DELETE_ORPHANED_ENDPOINTS: Statement = {
  sql: `DELETE FROM webhook_endpoints WHERE owner_gone = 1
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE endpoint_id = webhook_endpoints.id AND status = 'pending')
    AND (active = 0 OR NOT EXISTS (SELECT 1 FROM events WHERE events.user_id = webhook_endpoints.user_id
      AND seq > (SELECT seq FROM webhook_cursor)))`,
  args: [],
};
