// The fields of an account that administrators change, and the actions under which the audit log has them.
import { invalidInput } from "../../../src/kernel/errors.ts";
import { requireEmail } from "../email.ts";
import { name as nameRule } from "../model.ts";
import { requirePassword } from "../password/passwords.ts";
import type { User } from "../users.ts";

/** The fields that an administrator can change. */
export interface AccountFields {
  name: string;
  isAdmin: boolean;
  disabled: boolean;
  emailVerified: boolean;
  credits: number;
  limitsLifted: boolean;
}

export const FIELDS: readonly (keyof AccountFields)[] = [
  ...(["name", "isAdmin", "disabled", "emailVerified", "credits", "limitsLifted"] as const),
];

export const fieldsOf = ({ name, isAdmin, emailVerified, credits, limitsLifted, disabledAt }: User): AccountFields => ({
  name,
  isAdmin,
  disabled: disabledAt !== null,
  emailVerified,
  credits,
  limitsLifted,
});

/** The audit action of a field: changes of access and rights have their own. */
export function actionOf(field: keyof AccountFields, to: unknown): string {
  if (field === "disabled") return to ? "user.disable" : "user.enable";
  if (field === "isAdmin") return to ? "user.promote" : "user.demote";
  return "user.update";
}

/** Normalises a name by the rule of sign-up; an empty one becomes the address. Throws 400 unless it is one line. */
export function requireName(text: string, email: string): string {
  const { maxLength = 0, pattern = "" } = nameRule;
  if (text.length > maxLength || !new RegExp(pattern).test(text)) {
    throw invalidInput({ path: "name", message: String(nameRule.error) });
  }
  return text.trim().normalize("NFC") || email;
}

/** Normalises what a new account is made with, by the rules of sign-up. Throws 400. */
export async function requireAccount({ email, name = "", password }: AccountInput) {
  const address = requireEmail(email);
  if (password !== undefined) await requirePassword(password, { email: address });
  return { email: address, name: requireName(name, address) };
}

interface AccountInput {
  email: string;
  name?: string | undefined;
  password?: string | undefined;
}
