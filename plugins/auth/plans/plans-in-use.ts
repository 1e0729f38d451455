// Refuses to start without a plan that accounts have: they would lose what they pay for, without a word.

import { StartError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { planSettings } from "../settings.ts";

const MISSING = `SELECT plan, count(*) AS accounts FROM subscriptions WHERE status <> 'canceled' AND current_period_end > ?1
  AND plan NOT IN (SELECT value FROM json_each(?2)) GROUP BY plan ORDER BY plan LIMIT 1`;

/** Throws StartError, which names the plan, the number of its accounts, and what to do. */
export async function requirePlansInUse({ database, config }: Pick<Kernel, "database" | "config">): Promise<void> {
  const { file, table } = config.of(planSettings);
  const ids = JSON.stringify(table.plans.map(({ id }) => id));
  const [row] = (await database.read(MISSING, [Date.now(), ids])).rows;
  if (!row) return;
  const accounts = Number(row.accounts);
  const have = accounts === 1 ? "an account has" : `${accounts} accounts have`;
  const place = file ? `in ${file}` : "without PLANS_FILE";
  throw new StartError(
    `${place.replace(/^./, (first) => first.toUpperCase())} there is no plan "${row.plan}", but ${have} it. ` +
      `Put it back with "hidden": true, and it is not offered any more; or give these accounts another plan first.`,
  );
}
