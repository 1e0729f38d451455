// The slash commands of a bot: /ask, and those that are understood on every channel.
// https://discord.com/developers/docs/interactions/application-commands
import type { Binding } from "../channel.ts";
import { createRecent } from "../shared/recent.ts";
import type { Apis } from "./api.ts";
import { toChannelError } from "./errors.ts";
import { isSnowflake } from "./peer.ts";

const CHAT_INPUT = 1;
const TEXT = 3;
const GUILD = 0;
const DIRECT_MESSAGE = 1;
const INSTALLED_IN_GUILD = 0;
const WITHIN = 20_000;
/** Discord starts no conversation with a command. */
const NOT_HERE = ["start"];

interface Deps {
  apis: Apis;
  commands: Readonly<Record<string, string>>;
  noted(binding: Binding, reason: string): void;
}

export function createCommands({ apis, commands, noted }: Deps) {
  /** Bots whose commands were set by this process. */
  const published = createRecent<true>(4096);
  const place = { type: CHAT_INPUT, contexts: [GUILD, DIRECT_MESSAGE], integration_types: [INSTALLED_IN_GUILD] };
  const question = { type: TEXT, name: "question", description: "what you want to know", required: true };
  const body = [
    { ...place, name: "ask", description: "ask me something", options: [question] },
    ...Object.entries(commands)
      .filter(([name]) => !NOT_HERE.includes(name))
      .map(([name, description]) => ({ ...place, name, description })),
  ];

  return {
    /** Once per bot, in the background: without them everything else works, so a failure is only noted. */
    publish(binding: Binding, application: string): void {
      const { id } = binding.bot;
      if (published.get(id) || !isSnowflake(application)) return;
      published.set(id, true);
      const call = { method: "put", path: `/applications/${application}/commands`, body } as const;
      apis.call(binding, AbortSignal.timeout(WITHIN), call).catch((error: unknown) => {
        published.delete(id);
        noted(binding, toChannelError(error, "bot").message);
      });
    },
    forget: ({ bot }: Binding) => published.delete(bot.id),
  };
}
