// Enforces single use of nonces and sealed cookies: a row per used value, kept until the value has expired anyway.
import { guard, type Statement } from "../../../src/kernel/database/database.ts";

/**
 * For a batch: marks a value as used until `expiresAt` (epoch ms); aborts with GuardFailed `purpose` if it was used
 * before.
 */
export const useOnceStatements = (purpose: string, value: string, expiresAt: number): Statement[] => [
  {
    sql: "INSERT INTO auth_used_once (purpose, value, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    args: [purpose, value, expiresAt],
  },
  guard(purpose),
];

/** Deletes the rows of expired values. */
export const sweepUsedOnceStatement = (): Statement => ({
  sql: "DELETE FROM auth_used_once WHERE expires_at <= ?",
  args: [Date.now()],
});
