// Connecting and disconnecting: the platform is asked before anything is stored, and told when something is taken back.
import { type BotIdentity, ChannelError, type ChannelId } from "../../channels/channel.ts";
import type { Statement } from "../../src/database.ts";
import { AppError, type Issue, invalid, notFound } from "../../src/errors.ts";
import type { Order } from "../../src/order.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import { type agents as agentsPlugin, noSuchAgent } from "../agents/index.ts";
import { type LetIn, orSignedOut, standing } from "../auth/index.ts";
import type { Adapter, Adapters, Mode } from "./adapters.ts";
import type { Connection, Connections } from "./connections.ts";
import type { Line, Lines } from "./lines.ts";
import type { Standing } from "./links.ts";
import type { Pairings } from "./pairings.ts";
import type { Supervisor } from "./supervisor.ts";

/** A connection as its owner sees it. */
export interface ChannelState extends Standing {
  channel: ChannelId;
  bot: { id: string; username: string };
  mode: Mode;
}

export interface ConnectRequest {
  token: string;
  /** The owner's id on the platform; left out, the one given before stays. */
  ownerId?: string | undefined;
}

/** A token and the field it came in. */
export interface GivenToken extends ConnectRequest {
  channel: ChannelId;
  field: string;
}

type Checked = Omit<CheckedToken, "field">;

/** One that is known to be a bot's. */
export interface CheckedToken extends GivenToken {
  bot: BotIdentity;
}

export interface Channels {
  /** The channels an agent has a bot on, from the database alone. */
  configured(agentId: string): Promise<ChannelId[]>;
  list(agentId: string): Promise<ChannelState[]>;
  /** One of them; 404 `CHANNEL_NOT_CONNECTED`. */
  one(agentId: string, channel: ChannelId): Promise<ChannelState>;
  /**
   * Checks the token with the platform, stores it and connects. 400 `INVALID_CHANNEL_TOKEN`,
   * 409 `CHANNEL_IN_USE`, 502 `CHANNEL_UNREACHABLE`; then nothing was changed. The platform takes its time: a caller who
   * may not come in any more by then changes nothing either (401, 404, 409 `OPERATION_IN_PROGRESS`).
   */
  connect(caller: LetIn, agentId: string, channel: ChannelId, request: ConnectRequest): Promise<ChannelState>;
  /**
   * Asks the platforms whose tokens these are. 400 `INVALID_CHANNEL_TOKEN` with all that are nobody's, by their fields;
   * 502 `CHANNEL_UNREACHABLE`.
   */
  check(tokens: readonly GivenToken[]): Promise<CheckedToken[]>;
  /** Connects an agent that is being made, for the batch that makes it; what that fails with goes to `orInUse`. */
  connecting(agentId: string, checked: readonly CheckedToken[]): Statement[];
  /** 409 `CHANNEL_IN_USE` where a batch failed because of one of these bots, else the error itself. */
  orInUse(error: unknown, checked: readonly CheckedToken[]): Promise<unknown>;
  /** The agents that have bots among these and no others, with just these tokens: whoever gave them may be told of them. */
  servedWith(checked: readonly CheckedToken[]): Promise<string[]>;
  /** Forgets the bot and its token; false when there was none. */
  disconnect(agentId: string, channel: ChannelId): Promise<boolean>;
  /** Begins all of an agent's connections anew, given up ones too. */
  reconnect(agentId: string): Promise<void>;
  /** The agent is about to go: its bots are opened while their tokens are still there. Never rejects. */
  removing(agentId: string): Promise<void>;
  /** The agent is gone: its bots are let go, as far as that is still possible. */
  removed(agentId: string, channels: readonly ChannelId[]): Promise<void>;
}

const INVALID = "INVALID_CHANNEL_TOKEN";
const IDENTIFY_WITHIN = 10_000;
const UNREGISTER_WITHIN = 3_000;

interface Deps extends Pick<Kernel, "database" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "credentials" | "requireStillOwn">;
  adapters: Adapters;
  connections: Connections;
  lines: Lines;
  pairings: Pairings;
  supervisor: Supervisor;
  inOrder: Order;
}

export function createChannels(deps: Deps): Channels {
  const { database, agents, adapters, connections, lines, pairings, supervisor, inOrder, log } = deps;

  async function identify({ channel }: Adapter, token: string, field = "token") {
    try {
      return await channel.identify(token, AbortSignal.timeout(IDENTIFY_WITHIN));
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      if (error.kind === "refused") throw invalid({ path: field, message: error.message }, INVALID);
      const text = `Nothing was changed, since the token could not be checked: ${error.message}`;
      throw new AppError(502, "CHANNEL_UNREACHABLE", text, {}, { cause: error });
    }
  }

  /** Who was let in before the platform was asked is asked for anew, the last time in the write itself. */
  async function store(caller: LetIn, agentId: string, { channel, bot, token, ownerId }: Checked): Promise<void> {
    await agents.requireStillOwn(agentId, caller.userId);
    try {
      await database.write([...standing(caller), connections.putting(agentId, channel, bot, token, ownerId)]);
    } catch (error) {
      const why = orSignedOut(await connections.orInUse(error, [{ channel, bot }]));
      if (why instanceof AppError || (await agents.find(agentId))) throw why;
      throw noSuchAgent();
    }
  }

  const stateOf = (connection: Connection, isStopped: boolean): ChannelState => ({
    channel: connection.channel,
    bot: { id: connection.botId, username: connection.botUsername },
    mode: adapters[connection.channel].mode,
    ...supervisor.standing(connection, isStopped),
  });

  /** Ends a bot's service here. Its platform is told where it posts to us; what it answers changes nothing. */
  async function letGo(line: Line | undefined): Promise<void> {
    if (!line) return;
    const { channel, binding, mode } = line;
    try {
      if (mode === "webhook") await channel.posts?.unregister(binding, AbortSignal.timeout(UNREGISTER_WITHIN));
    } catch (error) {
      log.debug("a webhook was not taken back", { agentId: binding.agentId, error });
    }
    channel.forget(binding);
  }

  async function list(agentId: string): Promise<ChannelState[]> {
    const [agent, rows] = await Promise.all([agents.find(agentId), connections.of(agentId)]);
    return rows.map((row) => stateOf(row, agent?.status === "stopped"));
  }

  async function connect(caller: LetIn, agentId: string, channel: ChannelId, request: ConnectRequest): Promise<void> {
    const { token, ownerId } = request;
    const adapter = adapters[channel];
    const secret = token.trim();
    const bot = await identify(adapter, secret);
    await inOrder(agentId, async () => {
      const earlier = await lines.of(agentId, channel);
      // First the connection, which says which token it is about, then the token: a kill in between leaves a connection
      // that says "connect again", and never a bot under another's name.
      await store(caller, agentId, { channel, bot, token: secret, ownerId });
      lines.drop(agentId, channel);
      await agents.credentials.set({ kind: "agent", id: agentId }, channel, secret);
      await supervisor.end(agentId, channel);
      if (earlier && earlier.binding.bot.id !== bot.id) await letGo(earlier);
      await supervisor.settle(agentId, "connecting");
    });
    await supervisor.outcome(agentId, channel);
  }

  async function check(tokens: readonly GivenToken[]): Promise<CheckedToken[]> {
    const asked = tokens.map(({ channel, token, field }) => ({
      adapter: adapters[channel],
      token: token.trim(),
      field,
    }));
    const bots = await Promise.allSettled(asked.map(({ adapter, token, field }) => identify(adapter, token, field)));
    const failures = bots.flatMap((bot) => (bot.status === "rejected" ? [bot.reason as unknown] : []));
    // A token that is nobody's can be mended by whoever gave it: that is told first, and all of it.
    const nobodys = failures.flatMap((error) =>
      error instanceof AppError && error.code === INVALID ? (error.extras.issues as Issue[]) : [],
    );
    if (nobodys.length > 0) throw invalid(nobodys, INVALID);
    if (failures.length > 0) throw failures[0];
    return tokens.flatMap((given, at) => {
      const bot = bots[at];
      return bot?.status === "fulfilled" ? [{ ...given, token: given.token.trim(), bot: bot.value }] : [];
    });
  }

  return {
    check,
    orInUse: connections.orInUse,
    servedWith: connections.servedWith,

    connecting(agentId, checked) {
      const begin = () => {
        inOrder(agentId, () => supervisor.settle(agentId, "connecting")).catch((error: unknown) =>
          log.error("channels could not be settled", { agentId, error }),
        );
      };
      const rows = checked.map(({ channel, bot, token, ownerId }) =>
        connections.putting(agentId, channel, bot, token, ownerId),
      );
      return [
        // Before the tokens' own news, which know nothing of a bot being connected for the first time.
        ...rows.map((row, at) => (at === 0 ? { ...row, after: begin } : row)),
        ...checked.map(({ channel, token, field }) => agents.credentials.putting(agentId, channel, token, field)),
      ];
    },

    configured: async (agentId) => (await connections.of(agentId)).map(({ channel }) => channel),
    list,

    async one(agentId, channel) {
      const state = (await list(agentId)).find((one) => one.channel === channel);
      if (state) return state;
      throw notFound(`This agent is not connected to ${channel}.`, "CHANNEL_NOT_CONNECTED");
    },

    async connect(caller, id, channel, request) {
      await connect(caller, id, channel, request);
      const state = (await list(id)).find((one) => one.channel === channel);
      if (!state) throw new AppError(409, "CHANNEL_GONE", "The channel was disconnected as soon as it was connected.");
      return state;
    },

    disconnect: (agentId, channel) =>
      inOrder(agentId, async () => {
        const line = await lines.of(agentId, channel);
        await supervisor.end(agentId, channel);
        // The secret goes first.
        await agents.credentials.set({ kind: "agent", id: agentId }, channel, "");
        const existed = await connections.remove(agentId, channel);
        lines.drop(agentId, channel);
        pairings.forget(agentId);
        await letGo(line);
        return existed;
      }),

    reconnect: (agentId) =>
      inOrder(agentId, async () => {
        for (const { channel, callbackId } of await connections.of(agentId)) {
          await supervisor.end(agentId, channel);
          await connections.registered(callbackId, null, null);
          lines.drop(agentId, channel);
        }
        await supervisor.settle(agentId);
      }),

    async removing(agentId) {
      try {
        for (const { channel } of await connections.of(agentId)) await lines.of(agentId, channel);
      } catch (error) {
        log.error("a bot of an agent that is removed could not be opened", { agentId, error });
      }
    },

    removed: (agentId, channels) =>
      inOrder(agentId, async () => {
        await supervisor.settle(agentId);
        pairings.forget(agentId);
        await Promise.all(channels.map((channel) => letGo(lines.drop(agentId, channel))));
      }),
  };
}
