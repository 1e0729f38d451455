// Writes down recordings with a provider's model for it.
import { AppError } from "../../../src/kernel/errors.ts";
import { toStorableText } from "../../../src/kernel/util/text/storable-text.ts";
import type { MediaAnswer, MediaCalls, MediaPayer, MediaUsage } from "../media/media-calls.ts";
import type { MediaCandidate, MediaChoice } from "../media/media-models.ts";
import type { TranscriptionModel } from "../providers/provider.ts";
import { isTokenCount } from "../providers/token-usage.ts";

export type TranscriptionChoice = MediaChoice<TranscriptionModel>;
type Candidate = MediaCandidate<TranscriptionModel>;

export interface TranscriptionRequest {
  payer: MediaPayer;
  bytes: Uint8Array;
  /** By the first bytes; `audio/ogg` and others that providers take. */
  mediaType: string;
  /** The length of the recording, or a high estimate of it. */
  seconds: number;
  /** ISO 639-1; left out: the model finds it out. */
  language?: string | undefined;
  signal: AbortSignal;
}

const PATH = "/audio/transcriptions";
const MAX_ANSWER_BYTES = 4_000_000;
/** Characters of a transcript that are kept: about an hour. */
const MAX_TEXT = 60_000;
/** A price per minute stands for the usual number of tokens; a fast speaker needs more. */
export const TOKEN_MARGIN = 2;

/** @throws as `media/media-calls.ts`, and AppError 502 `PROVIDER_FAILED` for an answer without a transcript */
export async function transcribe(
  call: MediaCalls,
  choice: TranscriptionChoice,
  request: TranscriptionRequest,
): Promise<MediaAnswer<string>> {
  const { payer, bytes, mediaType, seconds, language, signal } = request;
  let base64: string | undefined;

  function bodyFor({ upstream: { definition }, modelId }: Candidate) {
    if (definition.transcriptionBody === "json") {
      base64 ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
      const input_audio = { data: base64, format: extensionOf(mediaType) };
      const body = JSON.stringify({ model: modelId, input_audio, ...(language && { language }) });
      return { body, headers: { "content-type": "application/json" } };
    }
    const form = new FormData();
    form.set("model", modelId);
    // Copied, since a view may be of memory that is shared.
    form.set("file", new File([new Uint8Array(bytes)], `audio.${extensionOf(mediaType)}`, { type: mediaType }));
    // Whisper's short form does not say how long the recording is; the other models have no long form.
    form.set("response_format", /whisper/i.test(modelId) ? "verbose_json" : "json");
    if (language) form.set("language", language);
    return { body: form };
  }

  return call({
    ...choice,
    payer,
    path: PATH,
    signal,
    bodyFor,
    mostUsd: ({ model }) => minutes(model, seconds) * model.perMinute * (model.perMillion ? TOKEN_MARGIN : 1),
    async read(response, candidate) {
      const answer = await readJson(response);
      const text = Object(answer).text;
      if (typeof text !== "string") {
        const message = `${candidate.upstream.label} did not write the recording down.`;
        throw new AppError(502, "PROVIDER_FAILED", message);
      }
      return { result: toStorableText(text.trim().slice(0, MAX_TEXT)), usage: usageOf(answer, candidate, seconds) };
    },
  });
}

/** Minutes that are charged. */
export const minutes = ({ leastSeconds = 0 }: TranscriptionModel, seconds: number) =>
  Math.max(seconds, leastSeconds) / 60;

/** What the provider counted: a charge, tokens, or seconds; else the measured length. */
export function usageOf(answer: unknown, { model, upstream }: Candidate, measured: number): MediaUsage {
  const { usage, duration } = Object(answer) as { usage?: unknown; duration?: unknown };
  const counted = Object(usage) as Record<string, unknown>;
  const { input_tokens: input, output_tokens: output, input_token_details: details } = counted;
  const tokens = isTokenCount(input) && isTokenCount(output) ? { input, output } : undefined;
  const inputTokens = tokens?.input ?? 0;
  const outputTokens = tokens?.output ?? 0;
  const charged = upstream.definition.readCharge?.(counted);
  if (charged !== undefined && charged >= 0) return { inputTokens, outputTokens, usd: charged };
  if (tokens && model.perMillion) {
    const { audio, text, output: perOutput } = model.perMillion;
    const words = Object(details).text_tokens;
    const textTokens = isTokenCount(words) ? Math.min(words, inputTokens) : 0;
    const usd = ((inputTokens - textTokens) * audio + textTokens * text + outputTokens * perOutput) / 1e6;
    return { inputTokens, outputTokens, usd };
  }
  const said = [counted.seconds, duration].map(Number).find((one) => one > 0 && one < 1e6);
  return { inputTokens, outputTokens, usd: minutes(model, said ?? measured) * model.perMinute };
}

async function readJson(response: Response): Promise<unknown> {
  const bytes: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new AppError(502, "PROVIDER_FAILED", "The transcript is too long.");
    bytes.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(bytes).toString());
  } catch {
    // Such as the page of a proxy: there is no transcript in it.
    return undefined;
  }
}

const EXTENSIONS: Readonly<Record<string, string>> = { "audio/mpeg": "mp3", "audio/mp4": "m4a" };
export const extensionOf = (mediaType: string) => EXTENSIONS[mediaType] ?? mediaType.slice(mediaType.indexOf("/") + 1);
