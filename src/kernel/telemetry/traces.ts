// Defines traces: what happened during one piece of work, as spans in each other. Their exporter is loaded only where an endpoint is set.

export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanOptions {
  /** `client`: a call to another service. Default: `internal`. */
  kind?: "internal" | "client" | "producer";
  attributes?: SpanAttributes;
}

export interface Span {
  /** Whether it may hold what people and agents say. */
  readonly withContents: boolean;
  /** Begins a span within this one. */
  begin(name: string, options?: SpanOptions): Span;
  set(attributes: SpanAttributes): void;
  /** Ends the span; `failure` is a short class of error, such as a code, never a message. */
  end(failure?: string): void;
}

export interface Traces {
  /** Whether spans may hold what people and agents say. */
  readonly withContents: boolean;
  /** Begins the first span of a piece of work. `id` is a UUID: without its hyphens it is the id of the trace. */
  begin(id: string, name: string, options?: SpanOptions): Span;
  /** Begins a span of work that follows on `begin` with the same id, also after a restart. */
  follow(id: string, name: string, options?: SpanOptions): Span;
  /** Sends what waits, for two seconds at most. Never rejects. */
  close(): Promise<void>;
}

/** Where traces go. */
export interface TraceSettings {
  /** The traces' own address, which ends in /v1/traces. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  withContents: boolean;
}
