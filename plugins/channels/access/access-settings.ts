// Reads and changes the access to an agent on one channel: the channel's part of the configuration, and the owner of the
// bot, which is stored with the connection.
import type { ChannelId } from "../../../channels/port.ts";
import { channelDefinition } from "../../../channels/registry.ts";
import { notFound } from "../../../src/kernel/errors.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { rawJsonMember, setJsonMembers } from "../../../src/kernel/util/json-text.ts";
import type { KeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import type { agents as agentsPlugin, ChannelSettings } from "../../agents/index.ts";
import type { ConnectionStore } from "../connections/connection-store.ts";
import type { OpenConnections } from "../connections/open-connections.ts";
import type { Supervisor } from "../connections/supervisor.ts";
import { accessInForce } from "./access-decision.ts";
import { parseOwnerId } from "./owner-id.ts";

/** Who may talk on a channel. */
export interface Access {
  channel: ChannelId;
  /** The rule in force. */
  access: NonNullable<ChannelSettings["access"]>;
  /** The rule that the configuration names; null if the default applies. */
  chosen: NonNullable<ChannelSettings["access"]> | null;
  /** The owner of the bot. */
  owner: string | null;
  /** Further owners. */
  owners: string[];
  allow: string[];
  groups: NonNullable<ChannelSettings["groups"]>;
  hasGroups: boolean;
}

type Id = string | number;

/** What is left out stays; null removes the setting, so that its default applies. */
export interface AccessChange {
  access?: ChannelSettings["access"] | null;
  owner?: Id | null;
  owners?: Id[];
  allow?: Id[];
  groups?: ChannelSettings["groups"] | null;
}

export interface AccessSettings {
  read(agentId: string, channel: ChannelId): Promise<Access>;
  /**
   * 400 for an id that is not of the platform's form; 404 `CHANNEL_NOT_CONNECTED` if the bot's owner is to be changed and
   * there is no bot.
   */
  change(agentId: string, channel: ChannelId, change: AccessChange): Promise<Access>;
}

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings" | "editConfig">;
  connections: Pick<ConnectionStore, "find" | "ownerStatement">;
  openConnections: Pick<OpenConnections, "drop">;
  supervisor: Pick<Supervisor, "stopConnection" | "reconcile">;
  inAgentQueue: KeyedQueue;
}

export function createAccessSettings(deps: Deps): AccessSettings {
  const { agents, connections, openConnections, supervisor, inAgentQueue } = deps;

  async function read(agentId: string, channel: ChannelId): Promise<Access> {
    const [settings, connection] = await Promise.all([agents.settings(agentId), connections.find(agentId, channel)]);
    const own = settings.channels?.[channel] ?? {};
    const owner = connection?.ownerId ?? null;
    return {
      channel,
      access: accessInForce(own, owner),
      chosen: own.access ?? null,
      owner,
      owners: own.owners ?? [],
      allow: own.allow ?? [],
      groups: own.groups ?? "mention",
      hasGroups: channelDefinition(channel).capabilities.hasGroups,
    };
  }

  return {
    read,
    change: (agentId, channel, { access, owner, owners, allow, groups }) =>
      inAgentQueue(agentId, async () => {
        const members = {
          access,
          owners: owners && parseIds(channel, owners, "owners"),
          allow: allow && parseIds(channel, allow, "allow"),
          groups,
        };
        const ownerId = owner === undefined ? undefined : (parseOwnerId(channel, owner ?? "", "owner") ?? null);
        const connection = ownerId === undefined ? undefined : await connections.find(agentId, channel);
        if (ownerId !== undefined && !connection) {
          throw notFound(
            `This agent is not connected to ${channelDefinition(channel).label}.`,
            "CHANNEL_NOT_CONNECTED",
          );
        }
        const statements =
          ownerId === undefined || connection?.ownerId === ownerId
            ? []
            : [connections.ownerStatement(agentId, channel, ownerId)];
        await agents.editConfig(
          agentId,
          (text) => setChannelMembers(text, channel, members),
          statements.length > 0 ? { statements, changed: ["channels"] } : {},
        );
        if (statements.length > 0) {
          // An open connection holds the owner that it was opened with.
          openConnections.drop(agentId, channel);
          await supervisor.stopConnection(agentId, channel);
          await supervisor.reconcile(agentId);
        }
        return read(agentId, channel);
      }),
  };
}

const parseIds = (channel: ChannelId, ids: readonly Id[], list: string): string[] => [
  ...new Set(ids.flatMap((id, at) => parseOwnerId(channel, id, `${list}.${at}`) ?? [])),
];

type Members = Record<string, string | readonly string[] | null | undefined>;

/** Sets members of `channels.<channel>` in a configuration's text; null and empty lists remove one, undefined keeps it. */
function setChannelMembers(text: string, channel: ChannelId, members: Members): string {
  const changes = Object.entries(members).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, value === null || value.length === 0 ? undefined : JSON.stringify(value)] as const];
  });
  const all = objectText(rawJsonMember(text, "channels"));
  const own = objectText(rawJsonMember(all, channel));
  const changed = setJsonMembers(own, Object.fromEntries(changes));
  if (changed === own) return text;
  return setJsonMembers(text, { channels: setJsonMembers(all, { [channel]: changed }) });
}

/** A stored value of another type has no effect, so it is replaced. */
const objectText = (text: string | undefined) => (text?.trimStart().startsWith("{") ? text : "{}");
