// Statements about sign-ins of devices that are needed before anybody has signed one in.
import type { Statement } from "../../../src/kernel/database/database.ts";

/** For an account that changes hands: what a stranger has approved. */
export const revokeDeviceSignInsStatement = (userId: string): Statement => ({
  sql: "DELETE FROM device_sign_ins WHERE user_id = ?",
  args: [userId],
});

export const sweepDeviceSignInsStatement = (): Statement => ({
  sql: "DELETE FROM device_sign_ins WHERE expires_at <= ?",
  args: [Date.now()],
});
