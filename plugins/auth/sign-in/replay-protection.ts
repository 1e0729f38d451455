// What must not be taken twice: remembered until nobody could bring it again.
import { guard, type Statement } from "../../../src/kernel/database/database.ts";

/** For a batch: uses this value up until then (epoch ms); aborts the batch with GuardFailed `purpose` when it was used. */
export const useOnceStatements = (purpose: string, value: string, expiresAt: number): Statement[] => [
  {
    sql: "INSERT INTO auth_used_once (purpose, value, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    args: [purpose, value, expiresAt],
  },
  guard(purpose),
];

/** Forgets what is too old to be brought again. */
export const sweepUsedOnceStatement = (): Statement => ({
  sql: "DELETE FROM auth_used_once WHERE expires_at <= ?",
  args: [Date.now()],
});
