// The rule for owner ids on platforms whose ids are numbers.
import type { OwnerIdRule } from "../definition.ts";

const NUMBER_PATTERN = /^\d{1,32}$/;

export const isNumericId = (text: string) => NUMBER_PATTERN.test(text);

/** Accepts digits only: names are refused, because their owners can change them. */
export const numericOwnerId: OwnerIdRule = {
  parse: (text) => (isNumericId(text) ? text : undefined),
  hint: "This is your numeric id on the platform.",
};
