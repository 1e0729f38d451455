// The route of a message between agents: the agents that it has come through, so that loops and long chains end. It is stored as
// the address of the conversation (the peer), and so survives a restart with the message.
import { toolDeclined } from "../skills/index.ts";

export interface Route {
  /** Names the conversation at the agent that gets the message. */
  conversation: string;
  /** The public addresses of the agents on the way, the first one first. */
  path: readonly string[];
}

/** Agents on the way of one message. */
export const MAX_HOPS = 4;
const MAX_ADDRESS = 300;
const PREFIX = "agent:";

export const peerOf = ({ conversation, path }: Route): string => `${PREFIX}${[conversation, ...path].join(" ")}`;

/** The name of the conversation. */
export const conversationOf = (peer: string): string => peer.slice(PREFIX.length).split(" ")[0] ?? "";

/** The way that a turn's message has come; empty for a message of a person. */
export function pathOf({ peer }: { peer: string }): readonly string[] {
  return peer.startsWith(PREFIX) ? peer.slice(PREFIX.length).split(" ").slice(1) : [];
}

/** An address as part of a path. */
export const isAddress = (text: unknown): text is string =>
  typeof text === "string" && text !== "" && text.length <= MAX_ADDRESS && !/\s/.test(text);

/**
 * The path with one more agent. Throws when the message has come through too many agents, or would come to one of them again:
 * two agents that answer each other would go on until a budget is used up.
 */
export function extendPath(path: readonly string[], from: string, to: string): readonly string[] {
  const next = [...path, from];
  if (next.includes(to)) {
    throw toolDeclined("This message has come through that agent already. Answer it yourself.");
  }
  if (next.length > MAX_HOPS) {
    throw toolDeclined(`A message goes through at most ${MAX_HOPS} agents. Answer it yourself.`);
  }
  return next;
}
