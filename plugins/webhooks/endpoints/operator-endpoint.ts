// The operator's endpoint: a row without address and secret, which stay in the configuration (WEBHOOK_URL, WEBHOOK_SECRET).
import type { Config } from "../../../src/kernel/config/config.ts";
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { DeliveryTarget } from "../delivery/delivery-rows.ts";
import { webhookSettings } from "../settings.ts";
import { LATEST_SEQ_SQL } from "./endpoint-statements.ts";

export const OPERATOR_ENDPOINT_ID = "operator";

/** Creates or reactivates the operator's endpoint as configured; deletes it if the configuration has none. */
export function operatorEndpointStatements(config: Pick<Config, "of">, now: number): Statement[] {
  const { url, secret } = config.of(webhookSettings);
  if (!url || !secret) {
    return [{ sql: "DELETE FROM webhook_endpoints WHERE id = ?", args: [OPERATOR_ENDPOINT_ID] }];
  }
  return [
    {
      sql: `INSERT INTO webhook_endpoints (id, url, types, description, secret, from_seq, created_at, updated_at)
        VALUES (?1, '', '["*"]', 'WEBHOOK_URL', '', ${LATEST_SEQ_SQL}, ?2, ?2)
        ON CONFLICT (id) DO UPDATE SET from_seq = CASE active WHEN 1 THEN from_seq ELSE excluded.from_seq END,
          active = 1, disabled_reason = NULL`,
      args: [OPERATOR_ENDPOINT_ID, now],
    },
  ];
}

export function operatorTarget(config: Pick<Config, "of">): DeliveryTarget {
  const { url = "", secret = "" } = config.of(webhookSettings);
  return { url, secrets: [secret], ownerDeleted: false };
}
