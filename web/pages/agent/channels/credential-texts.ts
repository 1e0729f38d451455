// The names and hints of the fields in which people give a bot's credentials.

import type { Text } from "../../../app/language.ts";

interface FieldTexts {
  label: Text;
  hint?: Text;
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, FieldTexts>>>> = {};

/** Undefined for a field that only the API names. */
export const fieldTexts = (channel: string, field: string): FieldTexts | undefined => FIELDS[channel]?.[field];
