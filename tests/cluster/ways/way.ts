// How a fault run's people write to agents: each way has some chats in each cell.
import type { Client } from "../../support/client.ts";
import type { Cluster } from "../../support/cluster.ts";
import { provision } from "../../support/members.ts";

export interface Reply {
  /** Of the way's chats. */
  chat: number;
  text: string;
  /** Epoch ms. */
  at: number;
}

export interface Way {
  name: string;
  /** The cell of each chat's agent. */
  cells: readonly number[];
  /** Whether replies go to a platform, which can show one twice; else they are read from the service. */
  isPlatform: boolean;
  says(chat: number, text: string): Promise<void>;
  /** All replies so far; those of a chat in their order. */
  replies(): Promise<Reply[]>;
  /** Reads what has come, where replies are not sent: they count from the moment at which they were read. Called again and again. */
  look?(): Promise<void>;
  /** Ends once all messages were accepted. */
  stop?(): Promise<void>;
}

export interface WayOptions {
  cluster: Cluster;
  /** One in each cell, by cell. */
  accounts: ReadonlyMap<number, Client>;
  /** The agents of each of these accounts, by cell; bots add theirs. */
  agents: Map<number, string[]>;
}

export interface Bot {
  token: string;
  cell: number;
}

/** Gives each bot an agent of its own, which anybody may write to. */
export async function connect(channel: string, bots: readonly Bot[], { accounts, agents }: WayOptions): Promise<void> {
  for (const [n, { token, cell }] of bots.entries()) {
    const owner = accounts.get(cell);
    if (!owner) throw new Error(`Cell ${cell} has no account.`);
    const { id } = await provision(owner, `Agent ${n}`, { channels: { [channel]: { access: "open" } } });
    agents.get(cell)?.push(id);
    const { status, text } = await owner.put(`/api/agents/${id}/channels/${channel}`, { token });
    if (status !== 200) throw new Error(`The bot could not be connected: ${text}`);
  }
}

/** Of the bot or conversation that has this chat. */
export function itemOf<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("There are none.");
  return item;
}
