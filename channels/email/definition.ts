// Describes email for the registry: id, settings, credentials, owner ids, documentation, and the adapter's factory.
import { connectionCount } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import type { ChannelDefinition } from "../definition.ts";
import { findCredentialTextProblem } from "../shared/credential-text.ts";
import { isMailAddress } from "./address.ts";
import { FIELDS } from "./credentials.ts";

const settings = defineSettings({
  name: "channel_e",
  variables: {
    CHANNEL_E_MAILS_PER_HOUR: withDefault(
      connectionCount,
      "60",
      "Most mails of one sender that an agent takes within an hour; the others are left in the mailbox.",
    ),
  },
  build: (v) => ({ perHour: v.CHANNEL_E_MAILS_PER_HOUR }),
});

/** No text matches: a mailbox has no token of a form of its own. */
const NEVER = /(?!)/g;

export const emailDefinition: ChannelDefinition<{ perHour: number }> = {
  id: "channel_e",
  label: "Email",
  environmentPrefix: "CHANNEL_E",
  settings,
  tokenShapes: [],
  tokenLogPattern: NEVER,
  credentials: FIELDS,
  findTokenProblem: (token) => findCredentialTextProblem(FIELDS, token),
  link: {
    kind: "chat",
    of: ({ username }) => (isMailAddress(username) ? `mailto:${encodeURI(username)}` : undefined),
    withCode: ({ username }, code) =>
      isMailAddress(username) ? `mailto:${encodeURI(username)}?body=${encodeURIComponent(code)}` : undefined,
  },
  capabilities: {
    hasListener: true,
    hasWebhook: false,
    hasGroups: false,
    hasPreviews: false,
    hasButtons: false,
    hasTyping: false,
    refersToDeleted: true,
    isSingleReceiver: false,
    isIdempotent: false,
    // Two looks at the mailbox and a half (`PULSE_MS`).
    silenceTimeout: 10 * MINUTE,
  },
  ownerId: {
    parse: (text) => (isMailAddress(text.toLowerCase()) ? text.toLowerCase() : undefined),
    hint: "Your own email address. It counts only if your mail server checks senders: see docs/email.md.",
  },
  documentation: {
    token:
      "the address, its password, and the IMAP and SMTP servers of a mailbox for the agent alone; with the name of the server that checks senders, its owner can write to it ([email.md](email.md))",
    ownerId: "the owner's email address",
    receiving: "over IMAP, with a connection that waits (IDLE)",
  },
  mode: () => "gateway",
  async create({ settings: { perHour }, log, traffic, resolveHost }) {
    const { createEmail } = await import("./index.ts");
    return createEmail({ perHour, log, traffic, resolveHost });
  },
};
