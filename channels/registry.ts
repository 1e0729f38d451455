// The registry of channels: one row each, from the folder of its adapter. Everything that enumerates channels reads it,
// so a new channel is one folder plus one row here.
import type { ChannelDefinition, ChannelProvisioning } from "./definition.ts";
import { discordDefinition } from "./discord/definition.ts";
import { emailDefinition } from "./email/definition.ts";
import type { ChannelId } from "./port.ts";
import { slackDefinition } from "./slack/definition.ts";
import { telegramDefinition } from "./telegram/definition.ts";
import { whatsAppDefinition } from "./whatsapp/definition.ts";

/** In the order in which answers, tables and documents name them. */
const rows: ChannelDefinition[] = [
  telegramDefinition,
  discordDefinition,
  whatsAppDefinition,
  slackDefinition,
  emailDefinition,
];

export const channelDefinitions = (): readonly ChannelDefinition[] => rows;

export const channelIds = (): ChannelId[] => rows.map(({ id }) => id);

export const isChannelId = (text: string): text is ChannelId => rows.some(({ id }) => id === text);

/** The channels that `POST /api/provision` connects. */
export const provisionedChannels = (): (ChannelDefinition & { provisioning: ChannelProvisioning })[] =>
  rows.flatMap(({ provisioning, ...row }) => (provisioning ? [{ ...row, provisioning }] : []));

/** The row of a channel; throws for an id that `isChannelId` does not know. */
export function channelDefinition(id: ChannelId): ChannelDefinition {
  const row = rows.find((one) => one.id === id);
  if (!row) throw new Error(`There is no channel ${id}.`);
  return row;
}

/**
 * Adds a channel from outside; returns the function that removes it. Call it before the configuration is read and the
 * app is built: schemas and adapters are made from the rows that are there then.
 */
export function registerChannel(definition: ChannelDefinition): () => void {
  if (isChannelId(definition.id)) throw new Error(`Two channels have the id ${definition.id}.`);
  rows.push(definition);
  return () => {
    const index = rows.indexOf(definition);
    if (index >= 0) rows.splice(index, 1);
  };
}

/** An object with a value for each channel, in the order of the registry. */
export function mapChannels<Value>(map: (definition: ChannelDefinition) => Value): Record<ChannelId, Value> {
  return Object.fromEntries(rows.map((row) => [row.id, map(row)]));
}
