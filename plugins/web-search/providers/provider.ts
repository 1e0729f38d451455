// What a search provider is: how it is asked, and how its answer is read.

/** The period in which a result was published. */
export type Period = "day" | "week" | "month" | "year";

export interface Query {
  text: string;
  /** Results. */
  count: number;
  period?: Period | undefined;
}

export interface SearchRequest {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
}

export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
  /** As the provider writes it. */
  published?: string | undefined;
}

/** One row of the registry. */
export interface SearchProvider {
  id: string;
  /** As people know it. */
  label: string;
  /** What the operator sets in the environment, and what it holds. */
  variable: `${Uppercase<string>}`;
  /** The name of an agent's credential with the same content. */
  credential: `${Uppercase<string>}`;
  /** `key`: an access key for `address`. `address`: the address of an instance, which needs no key. */
  needs: "key" | "address";
  /** Where its API is; undefined if the operator or owner names it. */
  address?: string;
  /** Where people get a key, or how they run an instance. One sentence, shown to owners and operators. */
  howToGet: string;
  /** @param access the key, for providers that need one */
  request(query: Query, address: string, access: string): SearchRequest;
  /** Reads the body of an answer; throws a TypeError for one of another shape. */
  results(body: unknown): SearchResult[];
}

/** The objects in a list of an answer, by the path to it. */
export function listIn(body: unknown, ...path: string[]): Record<string, unknown>[] {
  let value = body;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  if (!Array.isArray(value)) throw new TypeError(`The answer has no list ${path.join(".")}.`);
  return value.filter(isObject);
}

export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
