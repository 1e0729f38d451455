// The port of the place where responses are kept to be continued.

type Json = Readonly<Record<string, unknown>>;

export interface StoredResponse {
  readonly id: string;
  readonly rootId: string;
  readonly previousId: string | undefined;
  /** The prefix of the model source that answered; undefined for a provider. */
  readonly source: string | undefined;
  readonly state: string | undefined;
  /** The new items of the request. */
  readonly input: readonly Json[];
  /** As the client got it. */
  readonly response: Json & { readonly output: readonly Json[] };
}

/** The account that owns a response; undefined: anybody who knows its id, which nobody can guess. */
export type ResponseOwner = string | undefined;

export interface ResponseKeeper {
  save(owner: ResponseOwner, stored: StoredResponse): Promise<void>;
  find(owner: ResponseOwner, id: string): Promise<StoredResponse | undefined>;
  /** The response and those before it, the first one first. Throws 400 `PREVIOUS_RESPONSE_NOT_FOUND`. */
  chain(owner: ResponseOwner, id: string): Promise<StoredResponse[]>;
  /** Whether there was one. */
  remove(owner: ResponseOwner, id: string): Promise<boolean>;
}

/** Bytes of a conversation that can be continued. */
export const MAX_CHAIN_BYTES = 4 * 1024 * 1024;
