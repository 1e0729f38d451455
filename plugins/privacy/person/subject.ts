// Names a person: an account, or somebody who only wrote to agents, by channel and sender.
import { channelDefinitions, isChannelId } from "../../../channels/registry.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";

/** `account`: `id` is that of the account; else the platform's id of the sender. */
export interface Subject {
  channel: string;
  id: string;
  /** Only this agent; undefined: all. */
  agentId?: string | undefined;
  /** Epoch ms. Only what is older: what a restored backup has brought back; undefined: everything. */
  before?: number | undefined;
}

/** The channel of visitors of public pages and embedded chats. */
export const VISITORS = "public";
export const ACCOUNT = "account";

/** Epoch ms, exclusive: the end of what an erasure or a copy is about. */
export const endOf = ({ before = Number.MAX_SAFE_INTEGER }: Subject): number => before;

/** @param channel an id such as `channel_a`, a platform's name such as `telegram`, or `visitor` */
export function parseSubject(channel: string, id: string): Subject {
  const name = channel.trim().toLowerCase();
  const platform = ["visitor", "embed", VISITORS].includes(name) ? VISITORS : platformOf(name);
  if (platform === undefined) {
    const known = [...channelDefinitions().map((one) => one.label.toLowerCase()), "visitor"].join(", ");
    throw invalidInput({ path: "channel", message: `Give one of ${known}.` });
  }
  const trimmed = id.trim();
  if (trimmed === "" || trimmed.length > 500)
    throw invalidInput({
      path: "id",
      message: "Give the id of the sender on this channel, as a conversation shows it.",
    });
  return { channel: platform, id: platform === VISITORS ? trimmed.replace(/^visitor:/, "") : trimmed };
}

/** The address of a conversation with this person, where it follows from the id. */
export const addressOf = ({ channel, id }: Subject) => (channel === VISITORS ? `visitor:${id}` : id);

function platformOf(name: string): string | undefined {
  if (isChannelId(name)) return name;
  return channelDefinitions().find((one) => one.label.toLowerCase() === name)?.id;
}
