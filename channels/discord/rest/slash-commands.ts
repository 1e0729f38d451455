// Registers a bot's slash commands: /ask, and the commands of every channel.
// https://discord.com/developers/docs/interactions/application-commands

import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import type { Binding } from "../../port.ts";
import { toChannelError } from "../errors.ts";
import { isSnowflake } from "../ids.ts";
import type { RestClients } from "./rest-clients.ts";

const CHAT_INPUT = 1;
const TEXT = 3;
const GUILD = 0;
const DIRECT_MESSAGE = 1;
const INSTALLED_IN_GUILD = 0;
const PUBLISH_TIMEOUT_MS = 20_000;
/** Unlike on Telegram, no conversation on Discord begins with /start. */
const EXCLUDED = ["start"];

interface Deps {
  clients: RestClients;
  commands: Readonly<Record<string, string>>;
  onFailure(binding: Binding, reason: string): void;
}

export function createSlashCommands({ clients, commands, onFailure }: Deps) {
  /** Bots whose commands this process has registered. */
  const published = createBoundedMap<true>(4096);
  const commandScope = { type: CHAT_INPUT, contexts: [GUILD, DIRECT_MESSAGE], integration_types: [INSTALLED_IN_GUILD] };
  const question = { type: TEXT, name: "question", description: "what you want to know", required: true };
  const body = [
    { ...commandScope, name: "ask", description: "ask me something", options: [question] },
    ...Object.entries(commands)
      .filter(([name]) => !EXCLUDED.includes(name))
      .map(([name, description]) => ({ ...commandScope, name, description })),
  ];

  return {
    /**
     * Registers the commands once for each bot, in the background. The bot works without them, so a failure is only
     * logged.
     */
    publish(binding: Binding, application: string): void {
      const { id } = binding.bot;
      if (published.get(id) || !isSnowflake(application)) return;
      published.set(id, true);
      const call = { method: "put", path: `/applications/${application}/commands`, body } as const;
      clients.call(binding, AbortSignal.timeout(PUBLISH_TIMEOUT_MS), call).catch((error: unknown) => {
        published.delete(id);
        onFailure(binding, toChannelError(error, "bot").message);
      });
    },
    forget: ({ bot }: Binding) => published.delete(bot.id),
  };
}
