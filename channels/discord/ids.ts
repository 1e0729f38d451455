// Formats and parses Discord's ids: of channels (direct messages and threads are channels too), messages, interactions.
import { ChannelError } from "../port.ts";

const SNOWFLAKE = /^\d{15,20}$/;
const INTERACTION = /^interaction:(\d{15,20})$/;
/** Discord's ids count milliseconds from here. https://discord.com/developers/docs/reference#snowflakes */
const EPOCH = 1_420_070_400_000;

export const isSnowflake = (value: unknown): value is string => typeof value === "string" && SNOWFLAKE.test(value);

/** The channel id of an address; throws `refused` for any other text. */
export function parsePeer(peer: string): string {
  if (SNOWFLAKE.test(peer)) return peer;
  throw new ChannelError("refused", "This is not the address of a Discord channel.", "peer");
}

/** The message id of a slash command, which is no message of the channel and has an id of another kind. */
export const interactionMessageId = (id: string) => `interaction:${id}`;

/** The message id of a pressed button. No reply may be written in the place of the message that has the button. */
export const buttonMessageId = (id: string) => `button:${id}`;

/** The interaction in an id made by `interactionMessageId`; undefined for an ordinary message's. */
export const parseInteractionId = (id: string | undefined) => INTERACTION.exec(id ?? "")?.[1];

/** The time at which an id was made, epoch ms. */
export const timestampOf = (id: string) => Number(BigInt(id) >> 22n) + EPOCH;

/** The lowest id that can be made at a time, epoch ms. */
export const lowestIdAt = (time: number) => String(BigInt(Math.max(0, Math.floor(time) - EPOCH)) << 22n);
