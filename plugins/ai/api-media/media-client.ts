// What the kinds of media calls have in common: who calls, with which models, and how the answer is passed on.
import type { MediaAnswer, MediaCalls } from "../media/media-calls.ts";
import type { MediaChoice, ModelKind } from "../media/media-models.ts";

/** A caller of the AI API, and its disconnection. */
export interface MediaClient {
  readonly userId: string | undefined;
  readonly signal: AbortSignal;
}

/** What the kinds of media calls work with. */
export interface ApiMedia {
  call: MediaCalls;
  /** Throws 404 `NO_MODELS` without a candidate. */
  choose<Model extends { id: string }>(kind: ModelKind<Model>, model: string | undefined): MediaChoice<Model>;
  payerOf(client: MediaClient): { userId: string | undefined; publicBudget: number };
  isUnlimited(client: MediaClient): Promise<boolean>;
  /** The operator's choice where the request names no model. */
  operator: { transcription: string | undefined; speech: string | undefined; pictures: string | undefined };
}

/** A response of a provider that is passed on. */
export interface MediaBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** Records the payment, then responds. */
export async function respond({ result, model, payment }: MediaAnswer<MediaBody>): Promise<Response> {
  await payment.record();
  const headers = { "content-type": result.type, "cache-control": "no-store", "x-berth-model": encodeURI(model) };
  return new Response(result.bytes, { headers });
}
