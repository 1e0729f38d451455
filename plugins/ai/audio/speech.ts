// Reads texts aloud with a provider's model for it.
import { AppError } from "../../../src/kernel/errors.ts";
import type { MediaAnswer, MediaCalls, MediaPayer } from "../media/media-calls.ts";
import type { MediaChoice } from "../media/media-models.ts";
import type { SpeechModel } from "../providers/provider.ts";
import { type Recording, recordingOf } from "./recording.ts";

export interface SpeechRequest {
  payer: MediaPayer;
  /** As it is spoken: without markup. */
  text: string;
  /** The provider's name of a voice; left out: the usual one of the model. */
  voice?: string | undefined;
  signal: AbortSignal;
}

/** Spoken words. */
export interface Speech extends Recording {
  bytes: Uint8Array<ArrayBuffer>;
}

const PATH = "/audio/speech";
const MAX_BYTES = 10_000_000;
/** Characters that a slow voice speaks in a minute. */
export const SLOW_PACE = 500;

/** @throws as `media/media-calls.ts`, and AppError 502 `PROVIDER_FAILED` for an answer that is no sound */
export const speak = (
  call: MediaCalls,
  choice: MediaChoice<SpeechModel>,
  { payer, text, voice, signal }: SpeechRequest,
): Promise<MediaAnswer<Speech>> =>
  call({
    ...choice,
    payer,
    path: PATH,
    signal,
    bodyFor: ({ model, modelId }) => ({
      body: JSON.stringify({
        ...{ model: modelId, input: text },
        ...{ voice: voice ?? model.voice, response_format: model.format },
      }),
      headers: { "content-type": "application/json" },
    }),
    mostUsd: ({ model }) => priceOf(model, text, (60 * text.length) / SLOW_PACE + 1),
    async read(response, { model, upstream }) {
      const bytes = await readSound(response);
      const recording = bytes && recordingOf(bytes);
      if (!recording) throw new AppError(502, "PROVIDER_FAILED", `${upstream.label} did not read the text aloud.`);
      const usd = priceOf(model, text, recording.seconds);
      return { result: { ...recording, bytes }, usage: { inputTokens: 0, outputTokens: 0, usd } };
    },
  });

/** USD for a text of this length that is spoken in so many seconds. */
export const priceOf = ({ perMillionCharacters, perMinute }: SpeechModel, { length }: string, seconds: number) =>
  (length * perMillionCharacters) / 1e6 + (seconds / 60) * perMinute;

/** Undefined if it is too large. */
async function readSound(response: Response): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
