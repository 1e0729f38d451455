// Describes WhatsApp for the registry: id, settings, token shapes, owner ids, documentation, and the adapter's factory.
import { anyText, httpUrl } from "../../src/kernel/config/parsers.ts";
import { defineSettings, requireBoth } from "../../src/kernel/config/section.ts";
import { optional, withDefault } from "../../src/kernel/config/variable.ts";
import type { ChannelDefinition, TokenProblem } from "../definition.ts";
import type { BotIdentity } from "../port.ts";
import { isNumericId } from "../shared/numeric-id.ts";
import { findChallenge } from "./challenge.ts";

interface WhatsAppSettings {
  /** With the version of the Graph API. */
  apiRoot: string;
  appId: string | undefined;
  appSecret: string | undefined;
}

const settings = defineSettings({
  name: "channel_c",
  variables: {
    CHANNEL_C_API_ROOT: withDefault(httpUrl, "https://graph.facebook.com/v25.0", "Graph API, with its version."),
    CHANNEL_C_APP_ID: optional(anyText, "Your Meta app: what WhatsApp posts for tokens it made has to be signed."),
    CHANNEL_C_APP_SECRET: optional(anyText, "Secret of that app.", "secret"),
  },
  build: (values): WhatsAppSettings => ({
    apiRoot: values.CHANNEL_C_API_ROOT,
    appId: values.CHANNEL_C_APP_ID,
    appSecret: values.CHANNEL_C_APP_SECRET,
  }),
  validate: (values) => requireBoth(values, "CHANNEL_C_APP_ID", "CHANNEL_C_APP_SECRET"),
});

/** WhatsApp's ids of people who don't show their number: a country, then letters and digits. */
const USER_ID_PATTERN = /^[A-Z]{2}\.[A-Za-z0-9]{1,128}$/;

/** A phone number with its country code, however it is written, or WhatsApp's own id of the person. */
function parseOwnerId(text: string): string | undefined {
  if (USER_ID_PATTERN.test(text)) return text;
  const number = text.replace(/^\+/, "").replace(/[\s().-]/g, "");
  return isNumericId(number) ? number : undefined;
}

const APP_VERIFY_TOKEN = "berth";

const chatAddress = ({ username }: Pick<BotIdentity, "username">) =>
  /^\+\d+$/.test(username) ? `https://wa.me/${username.slice(1)}` : undefined;

/** Meta's access tokens begin with EAA and have about 200 characters. */
function findTokenProblem(token: string): TokenProblem | undefined {
  if (/\s/.test(token)) return { code: "spaces", message: "An access token has no spaces. Copy only the token." };
  if (/^\+?\d+$/.test(token)) {
    return { code: "id", message: "This is an id or a phone number. The access token begins with EAA." };
  }
  if (!token.startsWith("EAA".slice(0, token.length))) {
    return { code: "start", message: "A WhatsApp access token begins with EAA." };
  }
  if (!/^\w*$/.test(token)) return { code: "characters", message: "An access token has only letters and digits." };
  return token.length < 43
    ? { code: "incomplete", message: "This access token is cut off: it has about 200 characters." }
    : undefined;
}

export const whatsAppDefinition: ChannelDefinition<WhatsAppSettings> = {
  id: "channel_c",
  label: "WhatsApp",
  environmentPrefix: "CHANNEL_C",
  settings,
  tokenShapes: [/(?<![\w-])EAA[A-Za-z0-9]{40,}/],
  tokenLogPattern: /(?<![\w-])EAA[\w-]{24,}/g,
  findTokenProblem,
  link: {
    kind: "chat",
    of: chatAddress,
    withCode(bot, code) {
      const address = chatAddress(bot);
      return address && `${address}?text=${code}`;
    },
  },
  // Meta lets an app subscribe to messages only once the app has a callback address of its own.
  appWebhook: { verifyToken: APP_VERIFY_TOKEN, answer: (query) => findChallenge(query, APP_VERIFY_TOKEN) },
  capabilities: {
    hasListener: false,
    hasWebhook: true,
    hasGroups: false,
    hasPreviews: false,
    hasButtons: true,
    isSingleReceiver: false,
    isIdempotent: true,
    isAuthenticatedByUrl: true,
    staysRegisteredWhileStopped: true,
  },
  ownerId: { parse: parseOwnerId, hint: "This is your phone number with its country code." },
  provisioning: {
    token: {
      field: "channelCToken",
      alias: "whatsappToken",
      description: "A token of the third channel; numbers and accounts are found by it",
    },
    unsupportedFields: [
      "channelCPhoneNumberId",
      "whatsappPhoneNumberId",
      "channelCBusinessAccountId",
      "whatsappBusinessAccountId",
    ],
  },
  documentation: {
    token: "of a system user: see [operating](operating.md#whatsapp)",
    ownerId: "your phone number with its country code",
    receiving: "by webhook: `BASE_URL` has to be https",
  },
  mode: () => "webhook",
  async create({ settings: { apiRoot, appId, appSecret }, log, traffic }) {
    const { createWhatsApp } = await import("./index.ts");
    const app = appId && appSecret ? { app: { id: appId, secret: appSecret } } : {};
    return createWhatsApp({ apiRoot, log, traffic, ...app });
  },
};
