// Asks the platforms which bots tokens belong to, before anything is stored.
import { type BotIdentity, ChannelError, type ChannelId } from "../../channels/port.ts";
import { AppError, type Issue, invalidInput } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Adapters } from "./adapters.ts";
import type { ConnectionStore } from "./connections/connection-store.ts";
import { INVALID_TOKEN_CODE } from "./submitted-credentials.ts";

/** A token, and the field of the request that it came in. */
export interface SubmittedToken {
  channel: ChannelId;
  token: string;
  field: string;
  /** The owner's id on the platform; if left out, the earlier one stays. */
  ownerId?: string | undefined;
}

/** A token whose bot is known. */
export interface VerifiedToken extends SubmittedToken {
  bot: BotIdentity;
}

export type TokenOfBot = Omit<VerifiedToken, "field">;

/** The bot of a token that is not stored, and another agent that it serves; only the owner of that gets its name. */
export interface CheckedToken {
  bot: BotIdentity;
  inUseBy: { agentId: string | null; name: string | null } | null;
}

const TIMEOUT_MS = 10_000;

interface Deps {
  adapters: Pick<Adapters, "get">;
  connections: Pick<ConnectionStore, "findAgentByBot">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
}

export function createTokenChecks({ adapters, connections, agents }: Deps) {
  /** Asks the platform which bot this token belongs to. */
  async function identify(channel: ChannelId, token: string, field = "token"): Promise<BotIdentity> {
    try {
      return await adapters.get(channel).adapter.identify(token, AbortSignal.timeout(TIMEOUT_MS));
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      const path = error.field === undefined ? field : `credentials.${error.field}`;
      if (error.kind === "refused") throw invalidInput({ path, message: error.message }, INVALID_TOKEN_CODE);
      const text = `Nothing was changed, since the token could not be checked: ${error.message}`;
      throw new AppError(502, "CHANNEL_UNREACHABLE", text, {}, { cause: error });
    }
  }

  /** Another agent that this bot serves. */
  async function findOtherAgent(userId: string, agentId: string, channel: ChannelId, botId: string) {
    const otherId = await connections.findAgentByBot(channel, botId);
    if (otherId === undefined || otherId === agentId) return null;
    const other = await agents.find(otherId);
    return other?.userId === userId ? { agentId: otherId, name: other.name } : { agentId: null, name: null };
  }

  async function verify(tokens: readonly SubmittedToken[]): Promise<VerifiedToken[]> {
    const bots = await Promise.allSettled(
      tokens.map(({ channel, token, field }) => identify(channel, token.trim(), field)),
    );
    const failures = bots.flatMap((bot) => (bot.status === "rejected" ? [bot.reason as unknown] : []));
    // The caller can correct invalid tokens, so these are reported first, and all of them.
    const rejected = failures.flatMap((error) =>
      error instanceof AppError && error.code === INVALID_TOKEN_CODE ? (error.extras.issues as Issue[]) : [],
    );
    if (rejected.length > 0) throw invalidInput(rejected, INVALID_TOKEN_CODE);
    if (failures.length > 0) throw failures[0];
    return tokens.flatMap((given, at) => {
      const bot = bots[at];
      return bot?.status === "fulfilled" ? [{ ...given, token: given.token.trim(), bot: bot.value }] : [];
    });
  }

  return {
    identify,
    /** Checks several tokens; the errors of `ChannelService.verifyTokens`. */
    verify,
    async check(userId: string, agentId: string, channel: ChannelId, token: string): Promise<CheckedToken> {
      const bot = await identify(channel, token.trim());
      return { bot, inUseBy: await findOtherAgent(userId, agentId, channel, bot.id) };
    },
  };
}
