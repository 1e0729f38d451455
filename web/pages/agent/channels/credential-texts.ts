// The names and hints of the fields in which people give a bot's credentials.

import { type Text, text } from "../../../viewer/language.ts";

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
  channel_e: {
    address: {
      label: text("Address"),
      hint: text("A mailbox for the agent alone, since it takes every new mail in it."),
    },
    password: {
      label: text("Password"),
      hint: text("Some providers want one made for programs, which they call an app password."),
    },
    imap: { label: text("IMAP server"), hint: text("With its port if it is not 993.") },
    smtp: { label: text("SMTP server"), hint: text("With its port if it is not 465.") },
    user: { label: text("User name"), hint: text("Only if it is not the address.") },
    trustedServer: {
      label: text("Server that checks senders"),
      hint: text(
        "The name at the beginning of Authentication-Results in mails that arrive. Without it nobody is known for sure, and you can't command the agent by mail.",
      ),
    },
  },
};

/** Undefined for a field that only the API names. */
export const fieldTexts = (channel: string, field: string): FieldTexts | undefined => FIELDS[channel]?.[field];
