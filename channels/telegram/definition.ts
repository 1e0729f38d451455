// Describes Telegram for the registry: id, settings, token shapes, owner ids, documentation, and the adapter's factory.
import { httpUrl, oneOf } from "../../src/kernel/config/parsers.ts";
import { defineSettings, warning } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { ChannelDefinition, TokenProblem } from "../definition.ts";
import type { BotIdentity } from "../port.ts";
import { numericOwnerId } from "../shared/numeric-id.ts";

interface TelegramSettings {
  apiRoot: string;
  /** `auto` is resolved already. */
  mode: "polling" | "webhook";
}

const settings = defineSettings({
  name: "channel_a",
  variables: {
    CHANNEL_A_API_ROOT: withDefault(httpUrl, "https://api.telegram.org", "Telegram Bot API."),
    CHANNEL_A_MODE: withDefault(
      oneOf("auto", "polling", "webhook"),
      "auto",
      "How Telegram's updates come; `auto` is `webhook` when `BASE_URL` is https, else `polling`.",
    ),
  },
  build: ({ CHANNEL_A_API_ROOT: apiRoot, CHANNEL_A_MODE: mode }, { kernel }): TelegramSettings => ({
    apiRoot,
    mode: mode === "auto" ? (kernel.baseUrl.startsWith("https:") ? "webhook" : "polling") : mode,
  }),
  validate: ({ CHANNEL_A_MODE }, { kernel, sources }) =>
    CHANNEL_A_MODE === "webhook" && kernel.baseUrl.startsWith("http:") && sources.CHANNEL_A_API_ROOT === "default"
      ? [warning("CHANNEL_A_MODE", "webhook needs an https BASE_URL: Telegram calls no other.")]
      : [],
});

const chatAddress = ({ username }: Pick<BotIdentity, "username">) =>
  /^\w+$/.test(username) ? `https://t.me/${username}` : undefined;

/** BotFather's tokens: the bot's number, a colon, and 35 further characters. */
function findTokenProblem(token: string): TokenProblem | undefined {
  const [number = "", secret = "", ...rest] = token.split(":");
  if (/\s/.test(token)) {
    return { code: "spaces", message: "A bot token has no spaces. Copy only the token from BotFather's message." };
  }
  if (!/^\d+$/.test(number)) {
    return { code: "start", message: "A Telegram bot token begins with a number, like 123456789:AAF…" };
  }
  if (rest.length > 0 || !/^[\w-]*$/.test(secret)) {
    return { code: "characters", message: "After the colon come only letters, digits, - and _." };
  }
  return secret.length < 30
    ? { code: "incomplete", message: "This token is cut off: 35 characters come after the number and the colon." }
    : undefined;
}

export const telegramDefinition: ChannelDefinition<TelegramSettings> = {
  id: "channel_a",
  label: "Telegram",
  environmentPrefix: "CHANNEL_A",
  settings,
  tokenShapes: [/(?<!\d)\d{6,}:[\w-]{30,}/],
  tokenLogPattern: /(?<!\d)\d{6,}(?::|%3a)[\w-]{30,}/gi,
  findTokenProblem,
  link: {
    kind: "chat",
    of: chatAddress,
    // https://core.telegram.org/bots/features#deep-linking
    withCode(bot, code) {
      const address = chatAddress(bot);
      return address && `${address}?start=${code}`;
    },
  },
  capabilities: {
    hasListener: true,
    hasWebhook: true,
    hasGroups: true,
    hasPreviews: true,
    hasButtons: true,
    isSingleReceiver: true,
    isIdempotent: false,
    // A poll waits up to 30 s.
    silenceTimeout: 60 * SECOND,
  },
  ownerId: numericOwnerId,
  provisioning: {
    token: {
      field: "channelAToken",
      alias: "telegramToken",
      description: "A bot's token of the first channel. At least one token is needed; an empty one counts as none",
    },
    owner: {
      field: "channelAUserId",
      alias: "telegramUserId",
      description: "The owner's numeric id there: who may talk to the agent, unless its configuration says more",
    },
    unsupportedFields: [],
  },
  documentation: {
    token: "from [@BotFather](https://t.me/BotFather)",
    ownerId: "a number; [@userinfobot](https://t.me/userinfobot) tells yours",
    receiving: "by long polling, or by webhook where `BASE_URL` is https (`CHANNEL_A_MODE`)",
  },
  mode: ({ mode }) => mode,
  async create({ settings: { apiRoot }, ...options }) {
    const { createTelegram } = await import("./index.ts");
    return createTelegram({ apiRoot, ...options });
  },
};
