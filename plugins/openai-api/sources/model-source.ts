// The port of a model source: what other plugins offer as models under /v1, beside the models of AI providers.

/** The account that makes a call, authenticated and allowed to chat. */
export interface SourceCaller {
  readonly userId: string;
  readonly isAdmin: boolean;
  /** The client's network address. */
  readonly address: string;
}

/** One model in `GET /v1/models`. */
export interface SourceModel {
  /** The whole id, with the source's prefix. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
}

/** A part of a message. Text is the only kind that assistants and systems have. */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  /** A file in the request itself; `data` is base64. Files at addresses are refused before a source is called. */
  | { readonly type: "file"; readonly mediaType: string; readonly data: string; readonly name?: string };

/** A call of one of the client's own functions, which the client runs. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

export type SourceMessage =
  | { readonly role: "system" | "user"; readonly content: readonly ContentPart[] }
  | { readonly role: "assistant"; readonly content: readonly ContentPart[]; readonly calls: readonly FunctionCall[] }
  /** The client's result of one of its functions. */
  | { readonly role: "tool"; readonly callId: string; readonly content: readonly ContentPart[] };

/** One of the client's functions. */
export interface FunctionTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON schema of the arguments. */
  readonly parameters?: unknown;
}

export interface SourceRequest {
  /** The id as the client wrote it, with the prefix. */
  readonly model: string;
  /** The id after the prefix. */
  readonly name: string;
  readonly caller: SourceCaller;
  /** Which protocol the client speaks. */
  readonly api: "chat" | "responses" | "messages";
  /**
   * The messages of the request in order, of all three protocols in this one form. `instructions` of /responses and `system` of
   * /messages are the first message. With `previous` these are only the new ones.
   */
  readonly messages: readonly SourceMessage[];
  /** Functions of the client; empty for most. */
  readonly tools: readonly FunctionTool[];
  /** The client's name for its own end user: `user`, or `metadata.user_id` of /messages. */
  readonly user: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The client's name for the conversation, in a header. */
  readonly conversation: string | undefined;
  /**
   * The header `Idempotency-Key`: a request that comes again with it, also while the first is answered or after a crash, is the
   * same one. Only the source knows of it.
   */
  readonly idempotencyKey: string | undefined;
  /** The response of this source that /responses continues, with the state that the source gave for it. */
  readonly previous: { readonly responseId: string; readonly state: string | undefined } | undefined;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
}

/** Tokens of the whole answer. */
export interface AnswerUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/**
 * `length`: a limit on tokens was reached; `calls`: the client is to run the functions that were called; `filter`: a provider's
 * filter stopped the model.
 */
export type FinishReason = "stop" | "length" | "calls" | "filter";

/** A part of an answer as it arrives. Texts are to be appended. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  /** What the model thinks, or a short note on what is being done. */
  | { readonly type: "reasoning"; readonly text: string }
  /** The answering side runs a tool of its own. Followed by a `step-result` of the same id. `input` is JSON. */
  | { readonly type: "step"; readonly id: string; readonly name: string; readonly input: string }
  | {
      readonly type: "step-result";
      readonly id: string;
      readonly name: string;
      /** Short, for people. */
      readonly output: string;
      readonly isError: boolean;
    }
  /** A call of a client's function begins. Its arguments follow in `call-arguments` of the same id. */
  | { readonly type: "call"; readonly id: string; readonly name: string }
  | { readonly type: "call-arguments"; readonly id: string; readonly text: string }
  /** What a later request gets as `previous.state`: at most 4 kB. Kept only if the response is stored. The last one counts. */
  | { readonly type: "state"; readonly state: string }
  /** The last part. */
  | { readonly type: "finish"; readonly reason: FinishReason; readonly usage: AnswerUsage };

export interface ModelSource {
  /** The start of the ids of its models, such as `agent:`. No id of a provider's model may begin with it. */
  readonly prefix: string;
  /** The models of this caller. */
  list(caller: SourceCaller): Promise<readonly SourceModel[]>;
  /** One of them; undefined if there is none of this id for this caller. `name` is the id after the prefix. */
  find(name: string, caller: SourceCaller): Promise<SourceModel | undefined>;
  /**
   * Begins an answer. An AppError that the promise rejects with becomes the response, with its status; one that is thrown by
   * the iteration becomes an error in the stream. If the client goes, `signal` fires and the iteration is ended by `return()`.
   */
  open(request: SourceRequest): Promise<AsyncIterable<AnswerPart>>;
}
