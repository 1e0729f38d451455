// The addresses this adapter hands out: channels (a direct message and a thread are channels too), messages, interactions.
import { ChannelError } from "../port.ts";

const SNOWFLAKE = /^\d{15,20}$/;
const INTERACTION = /^interaction:(\d{15,20})$/;
/** Discord's ids count milliseconds from here. https://discord.com/developers/docs/reference#snowflakes */
const EPOCH = 1_420_070_400_000;

export const isSnowflake = (value: unknown): value is string => typeof value === "string" && SNOWFLAKE.test(value);

/** The channel an address names. */
export function parsePeer(peer: string): string {
  if (SNOWFLAKE.test(peer)) return peer;
  throw new ChannelError("refused", "This is not the address of a Discord channel.", "peer");
}

/** A command is no message of the channel: it is known by its own id. */
export const interactionMessageId = (id: string) => `interaction:${id}`;

/** The interaction that an id names; undefined when it is a message's. */
export const parseInteractionId = (id: string | undefined) => INTERACTION.exec(id ?? "")?.[1];

/** Epoch ms at which an id was made. */
export const timestampOf = (id: string) => Number(BigInt(id) >> 22n) + EPOCH;

/** The lowest id that could be made at a time, epoch ms. */
export const lowestIdAt = (time: number) => String(BigInt(Math.max(0, Math.floor(time) - EPOCH)) << 22n);
