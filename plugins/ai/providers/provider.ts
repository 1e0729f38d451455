// The port of an AI provider: everything that Berth has to know of it, as data.
import type { ReadCharge } from "./token-usage.ts";

/** The id on the wire, in the ledger, and as the kind of a credential. */
export type ProviderId = `provider_${number}`;

/** Kinds of files a message to a model may carry. `audio` is MP3 and WAV; `ogg`, as chat apps record, is taken by fewer. */
export type InputModality = "image" | "audio" | "ogg" | "pdf";

/**
 * Provider's id, name, description, USD per million input and output tokens, context window in tokens, task types.
 * A model carries a task type only when it is a sensible choice for it; `long` means a window of 900,000 tokens or more.
 * Prices are those of the first tier, without discounts for cached input.
 */
export type CatalogueRow = readonly [
  id: string,
  name: string,
  description: string,
  input: number,
  output: number,
  contextWindow: number,
  tags: string,
];

/** A model that turns text into vectors: provider's id, and USD per million tokens. */
export type EmbeddingRow = readonly [id: string, input: number];

/** A model that writes down recordings. Prices are USD. */
export interface TranscriptionModel {
  /** The provider's own. */
  readonly id: string;
  /** Of the recording: reserved before the call, and charged where the answer counts no tokens. */
  readonly perMinute: number;
  /** Seconds that are charged at least. */
  readonly leastSeconds?: number;
  /** Per million tokens, where the answer counts them. */
  readonly perMillion?: { readonly audio: number; readonly text: number; readonly output: number };
}

/** A model that reads texts aloud. Prices are USD, and are added up. */
export interface SpeechModel {
  /** The provider's own. */
  readonly id: string;
  readonly perMillionCharacters: number;
  /** Of what is spoken. */
  readonly perMinute: number;
  /** The voice where the agent names none. */
  readonly voice: string;
  /** What the provider can make: Ogg Opus is what chat apps take as a voice message. */
  readonly format: "opus" | "mp3";
}

/** A model that makes pictures. Prices are USD. */
export interface PictureModel {
  /** The provider's own. */
  readonly id: string;
  /** The most that one picture costs: reserved before the call, and charged where the answer counts no tokens. */
  readonly perPicture: number;
  /** Per million tokens, where the answer counts them. */
  readonly perMillion?: { readonly input: number; readonly output: number };
  /** Fields of the request besides model and prompt, such as the quality on which the price depends. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The provider's words for the shapes of a picture; left out where it takes none. */
  readonly sizes?: Readonly<Record<PictureShape, string>>;
}

export type PictureShape = "square" | "wide" | "tall";

/** A model that is known for its price alone: provider's id, USD per million input and output tokens. */
export type DearRow = readonly [id: string, input: number, output: number];

/** Whether this value of a request's field changes no price, or one that is reserved before the call and settled after it. */
export type FieldRule = (value: unknown) => boolean;

export interface ProviderDefinition {
  readonly id: ProviderId;
  /** Name for people; the default of the variable `<env>_LABEL`. */
  readonly label: string;
  /** The prefix of the variables `_API_KEY`, `_BASE_URL` and `_LABEL`. */
  readonly env: `PROVIDER_${string}`;
  /** The OpenAI-compatible address, without a slash at its end. */
  readonly baseUrl: string;
  /** The end of the sentence that describes `<env>_BASE_URL`. */
  readonly baseUrlNote?: string;
  /** The end of the sentence that describes `<env>_API_KEY`. */
  readonly keyNote?: string;
  readonly credential: {
    /** Whether a key is needed. If false, a custom `_BASE_URL` enables the provider, and the credentials summary omits it. */
    readonly required: boolean;
    /** The start of every key with its separator, if it has one: finds keys in log lines, and masked ones in error messages. */
    readonly prefix: string;
    /** Matches a key anywhere in a text; linear in the text's length. */
    readonly shape: RegExp;
    /** The start that tells its keys from those of every other provider, if they have one. */
    readonly start?: string;
    /** The page of the provider on which people make a key. */
    readonly page?: string;
  };
  readonly capabilities: {
    /** Kinds of files that pass through the OpenAI-compatible endpoint at all. */
    readonly modalities: readonly InputModality[];
    /** A model that takes audio takes Ogg too. */
    readonly oggAudio: boolean;
    readonly maxTokensField: "max_tokens" | "max_completion_tokens";
    /** An address of the operator's own is a local server, whose calls cost nothing; a local Ollama is used as this provider. */
    readonly localServer: boolean;
  };
  /**
   * Fields of a chat request that callers with a limited budget may send, besides those of `commonChatFields`. All other fields
   * are refused, since they may cost extra.
   */
  readonly chatFields?: Readonly<Record<string, FieldRule>>;
  /** Matches ids with options that change the price, such as `:online`; refused for such callers unless the list has the id. */
  readonly pricedVariants?: RegExp;
  /** Reads the USD that a call cost from the usage object of its response. */
  readonly readCharge?: ReadCharge;
  /** Headers besides the bearer token. */
  authHeaders?(apiKey: string): Record<string, string>;
  /** The models behind the choices `model_a` and `model_b` where the operator names none of this provider. */
  readonly defaultModels: { readonly model_a: string; readonly model_b: string };
  /** The name of the provider in the price list; see scripts/refresh-catalogue.mjs. */
  readonly priceListId: string;
  /** Well-known models: shown before, and beside, the provider's live list. */
  readonly models: readonly CatalogueRow[];
  readonly embeddingModels: readonly EmbeddingRow[];
  /** The first is the default. */
  readonly transcriptionModels?: readonly TranscriptionModel[];
  /** How recordings are sent: as the form of OpenAI, or in base64 as a member of a JSON body. Left out: as a form. */
  readonly transcriptionBody?: "form" | "json";
  /** The first is the default. */
  readonly speechModels?: readonly SpeechModel[];
  readonly pictureModels?: readonly PictureModel[];
  /** Models that are still served, but not offered here, and cost more than those of `models`: none may pass for one of them. */
  readonly dearModels?: readonly DearRow[];
}
