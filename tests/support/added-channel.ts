// A channel that is not part of Berth, for the test that adds it from outside: a row, and an adapter over a platform in
// memory.
import type { ChannelDefinition, CredentialField } from "../../channels/definition.ts";
import {
  type Binding,
  ChannelError,
  type ConnectionListener,
  type IncomingMessage,
  type OutgoingMessage,
  type Sink,
} from "../../channels/port.ts";
import { findCredentialTextProblem, readCredentials } from "../../channels/shared/credential-text.ts";
import { oneOf } from "../../src/kernel/config/parsers.ts";
import { defineSettings, warning } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";

export const ADDED_CHANNEL = "channel_y";
export const ADDED_PAIR_CHANNEL = "channel_x";
const TOKEN_PATTERN = /^lantern-(\d+)-[a-z]{32}$/;

/** A token that the platform knows, of the bot with this number. */
export const addedToken = (bot: number) => `lantern-${bot}-${"k".repeat(32)}`;

interface LanternSettings {
  colour: "white" | "red";
}

export interface AddedChannel {
  definition: ChannelDefinition<LanternSettings>;
  /** A person writes to a bot in private; resolves when the message is stored. */
  userSays(bot: string, person: string, text: string): Promise<void>;
  /** The texts that a bot sent to a person. */
  textsTo(bot: string, person: string): string[];
}

export function createAddedChannel(): AddedChannel {
  const sinks = new Map<string, Sink>();
  const sent: { bot: string; peer: string; text: string }[] = [];
  let lastMessage = 0;

  const listener: ConnectionListener = {
    async listen({ bot }: Binding, sink: Sink, signal: AbortSignal) {
      sinks.set(bot.id, sink);
      sink.reportAlive();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      sinks.delete(bot.id);
    },
  };

  return {
    async userSays(bot, person, text) {
      const message: IncomingMessage = {
        platformMessageId: `m${++lastMessage}`,
        peer: person,
        sender: { id: person, name: "Ada" },
        text,
        group: false,
        addressed: true,
        sentAt: Date.now(),
      };
      const sink = sinks.get(bot);
      if (!sink) throw new Error(`The bot ${bot} does not listen.`);
      await sink.accept([message]);
    },
    textsTo: (bot, person) => sent.filter((one) => one.bot === bot && one.peer === person).map(({ text }) => text),

    definition: {
      id: ADDED_CHANNEL,
      label: "Lantern",
      environmentPrefix: "CHANNEL_Y",
      settings: defineSettings({
        name: ADDED_CHANNEL,
        variables: { CHANNEL_Y_COLOUR: withDefault(oneOf("white", "red"), "white", "Colour of the lanterns.") },
        build: ({ CHANNEL_Y_COLOUR: colour }): LanternSettings => ({ colour }),
        validate: ({ CHANNEL_Y_COLOUR }) =>
          CHANNEL_Y_COLOUR === "red" ? [warning("CHANNEL_Y_COLOUR", "red means danger.")] : [],
      }),
      tokenShapes: [/lantern-\d+-[a-z]{32}/],
      tokenLogPattern: /lantern-\d+-[a-z]{32}/g,
      findTokenProblem: (token) =>
        TOKEN_PATTERN.test(token) ? undefined : { code: "start", message: "A lantern's token begins with lantern-." },
      link: { kind: "chat", of: ({ id }) => `https://lantern.example/${id}` },
      capabilities: {
        hasListener: true,
        hasWebhook: false,
        hasGroups: false,
        hasPreviews: false,
        hasButtons: false,
        isSingleReceiver: false,
        isIdempotent: false,
        silenceTimeout: 60_000,
      },
      ownerId: {
        parse: (text) => (/^person-\d+$/.test(text) ? text : undefined),
        hint: "This is person- and a number.",
      },
      provisioning: {
        token: { field: "channelYToken", alias: "lanternToken", description: "A bot's token of the fourth channel" },
        owner: { field: "channelYUserId", alias: "lanternUserId", description: "The owner's id there" },
        unsupportedFields: ["channelYRegion"],
      },
      documentation: { token: "from the lantern keeper", ownerId: "`person-` and a number", receiving: "by light" },
      mode: () => "gateway",
      create: ({ settings: { colour } }) => ({
        listener,
        identify(token) {
          const bot = TOKEN_PATTERN.exec(token)?.[1];
          if (bot === undefined) return Promise.reject(new ChannelError("refused", "No lantern knows this.", "bot"));
          return Promise.resolve({ id: bot, username: `${colour}_lantern_${bot}` });
        },
        send({ bot }: Binding, { id, peer, text }: OutgoingMessage, onPartDelivered) {
          sent.push({ bot: bot.id, peer, text });
          onPartDelivered(id);
          return Promise.resolve();
        },
        typing: () => Promise.resolve(),
        fetchFile: () => Promise.reject(new ChannelError("refused", "There are no files.", "peer")),
        forget: () => undefined,
      }),
    },
  };
}

/** The same platform where a bot needs a key beside its token, and provisioning does not know the channel. */
export function withTwoCredentials({ provisioning: _, ...definition }: AddedChannel["definition"]): ChannelDefinition {
  const credentials: readonly CredentialField[] = [
    { name: "botToken", label: "Bot token", isSecret: true, findProblem: definition.findTokenProblem },
    {
      ...{ name: "matches", label: "Matches", isSecret: false, isOptional: true, example: "12" },
      findProblem: (value) => (/^\d+$/.test(value) ? undefined : { code: "invalid", message: "This is a number." }),
    },
    {
      ...{ name: "oil", label: "Oil", isSecret: true },
      findProblem: (value) =>
        value.startsWith("lantern-") ? { code: "other_field", message: "This is the bot token." } : undefined,
    },
  ];
  const settings = defineSettings({
    name: ADDED_PAIR_CHANNEL,
    variables: {},
    build: () => ({ colour: "white" as const }),
  });
  return {
    ...definition,
    ...{ id: ADDED_PAIR_CHANNEL, label: "Pair of lanterns", environmentPrefix: "CHANNEL_X", settings, credentials },
    findTokenProblem: (token) => findCredentialTextProblem(credentials, token),
    mode: () => "gateway",
    async create(options) {
      const single = await definition.create({ ...options, settings: { colour: "white" } });
      return {
        ...single,
        async identify(token, signal) {
          const { botToken = "", oil } = readCredentials(credentials, token) ?? {};
          if (oil === "water") {
            throw new ChannelError("refused", "Water does not burn.", "bot", undefined, { field: "oil" });
          }
          return single.identify(botToken, signal);
        },
      };
    },
  };
}
