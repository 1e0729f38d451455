// The names and hints of the fields in which people give a bot's credentials.

import { type Text, text } from "../../../app/language.ts";

interface FieldTexts {
  label: Text;
  hint?: Text;
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, FieldTexts>>>> = {
  channel_d: {
    botToken: { label: text("Bot User OAuth Token"), hint: text("It begins with xoxb-.") },
    appToken: {
      label: text("App-Level Token"),
      hint: text("It begins with xapp-. Both are kept encrypted and never shown again. Give them to nobody else."),
    },
  },
};

/** Undefined for a field that only the API names. */
export const fieldTexts = (channel: string, field: string): FieldTexts | undefined => FIELDS[channel]?.[field];
