// All that belongs to an agent, whichever plugin keeps it, read at one moment.
import type { Host, ServiceOf } from "../../../src/plugin.ts";
import { agents, type Parts } from "../../agents/index.ts";
import { ai } from "../../ai/index.ts";
import { channels } from "../../channels/index.ts";
import { runtime } from "../../runtime/index.ts";
import { skills } from "../../skills/index.ts";

/** The plugins that keep something of an agent, each with what it knows to do with it. */
export interface Estates {
  readonly agents: ServiceOf<typeof agents>["estate"];
  readonly skills: ServiceOf<typeof skills>["estate"];
  readonly runtime: ServiceOf<typeof runtime>["estate"];
  readonly channels: ServiceOf<typeof channels>["estate"];
  readonly ai: ServiceOf<typeof ai>["estate"];
  /** Steps of a batch that forget facts and reminders. */
  reset: ServiceOf<typeof skills>["reset"];
}

/** Parts that backups of earlier versions don't have: what is there of them stays as it is. */
export const LATER_PARTS = ["cache"] as const;

type PartsOf<E> = E extends { parts: Parts<infer Name> } ? Name : never;
/** Names of all parts: `agent`, `memories`, `sessions`, … */
export type Part = PartsOf<Estates["agents" | "skills" | "runtime" | "channels" | "ai"]>;

/** The rows of every part: JSON arrays, as text. */
export type Moment = Readonly<Record<Part, string>>;

export function estatesOf(host: Host): Estates {
  const { estate: skillEstate, reset } = host.use(skills);
  return {
    agents: host.use(agents).estate,
    skills: skillEstate,
    runtime: host.use(runtime).estate,
    channels: host.use(channels).estate,
    ai: host.use(ai).estate,
    reset,
  };
}

/** Every part with its query. */
export const partsOf = ({ agents, skills, runtime, channels, ai }: Estates): Parts<Part> => ({
  ...agents.parts,
  ...skills.parts,
  ...runtime.parts,
  ...channels.parts,
  ...ai.parts,
});

/** Reads everything but the messages themselves in one statement; of those it gives the numbers. */
export function createReader(database: Host["kernel"]["database"], parts: Parts<Part>) {
  const names = Object.keys(parts) as Part[];
  const sql = `SELECT ${names.map((name) => `(${parts[name]}) AS "${name}"`).join(", ")}`;

  return async function read(agentId: string): Promise<Moment> {
    const { rows } = await database.read(sql, [agentId]);
    return Object.fromEntries(names.map((name) => [name, String(rows[0]?.[name])])) as Moment;
  };
}
