// What is kept of where a bot's listening was: its session, and the conversations to ask about if Discord forgets that.
import type { Session } from "./gateway.ts";
import { isSnowflake } from "./peer.ts";

/** What `Sink.keep` is given, as JSON. */
export interface Kept extends Session {
  /** The application, whose commands these are. */
  app: string;
  places: Place[];
}

/** A conversation: its channel, the last message of it, and its guild. */
export type Place = [channel: string, last: string, guild: string | null];

/** Conversations that are kept, the latest ones. */
const MOST = 32;

export function parseKept(text: string | undefined): Kept | undefined {
  if (text === undefined) return undefined;
  try {
    const { id, url, seq, app, places } = JSON.parse(text) as Partial<Record<keyof Kept, unknown>>;
    if (typeof id !== "string" || typeof url !== "string" || typeof app !== "string") return undefined;
    if (typeof seq !== "number" || seq < 1) return undefined;
    return { id, url, seq, app, places: Array.isArray(places) ? places.filter(isPlace) : [] };
  } catch {
    return undefined;
  }
}

const isPlace = (value: unknown): value is Place =>
  Array.isArray(value) &&
  isSnowflake(value[0]) &&
  isSnowflake(value[1]) &&
  (value[2] === null || isSnowflake(value[2]));

export interface Places {
  /** `addressed`: a conversation with the bot; of others only those that were one before are kept. */
  spoke(channel: string, message: string, guild: string | undefined, addressed: boolean): void;
  all(): Place[];
}

export function createPlaces(known: readonly Place[]): Places {
  /** By channel, the one quiet for longest first. */
  const places = new Map(known.map((place) => [place[0], place]));
  return {
    spoke(channel, message, guild, addressed) {
      if (!addressed && !places.has(channel)) return;
      places.delete(channel);
      places.set(channel, [channel, message, guild ?? null]);
      if (places.size > MOST) places.delete(places.keys().next().value ?? "");
    },
    all: () => [...places.values()],
  };
}
