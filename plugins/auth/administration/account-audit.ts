// Records in the audit log what people change of their own accounts.
import type { Audit } from "../../../src/kernel/audit/audit.ts";
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { User } from "../users.ts";

/** An entry for the audit log: an action such as `user.disable`, with old and new values. */
export interface AccountChange {
  action: string;
  user: Pick<User, "id" | "email">;
  /** Changed fields as `{ field: { from, to } }`, or details of the action; never a secret. */
  details: Readonly<Record<string, unknown>>;
}

/** Returns the statement that records a change; it joins the batch of the change. */
export type AuditRecorder = (change: AccountChange) => Statement;

/** What is recorded of an account, apart from what admins do. */
export type AccountAction =
  | "sign-up"
  | "sign-in"
  | "sign-in-failed"
  | "password"
  | "password-reset"
  | "email"
  | "two-factor-on"
  | "two-factor-off"
  | "sign-in-added"
  | "sign-in-removed"
  | "key-create"
  | "key-delete"
  | "device-approve"
  | "device-deny"
  | "sessions-end"
  | "delete";

/** The statement that records a change of this account by who makes the request, for the batch of the change. */
export type AccountAudit = (
  user: Pick<User, "id" | "email">,
  action: AccountAction,
  details?: Readonly<Record<string, unknown>>,
) => Statement;

export const createAccountAudit =
  (audit: Audit): AccountAudit =>
  ({ id, email }, action, details = {}) =>
    audit.record({ action: `user.${action}`, target: { kind: "user", id, name: email }, details });
