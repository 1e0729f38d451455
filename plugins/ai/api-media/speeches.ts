// Reads texts aloud for API clients: OpenAI's /audio/speech, passed on to the provider that serves the model.
import { AppError } from "../../../src/kernel/errors.ts";
import { readLimitedBody } from "../../../src/kernel/util/limited-body.ts";
import { recordingOf } from "../audio/recording.ts";
import { priceOf, SLOW_PACE } from "../audio/speech.ts";
import { SPEECH } from "../media/media-models.ts";
import { type ApiMedia, type MediaBody, type MediaClient, respond } from "./media-client.ts";
import { checkFields, type FieldChecks, isAmong, isNumber, isText, MODEL, textOf } from "./media-fields.ts";

const PATH = "/audio/speech";
const MAX_BYTES = 32 * 1024 * 1024;
/** Of PCM as OpenAI sends it: 24 kHz, 16 bits, one channel. */
const PCM_BYTES_PER_SECOND = 48_000;
const TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

const CHECKS: FieldChecks = {
  model: MODEL,
  input: [isText(4_096), "Give the input: text of 1 to 4096 characters."],
  voice: [isText(100), "Name the voice: text of 1 to 100 characters."],
  instructions: [isText(4_096), "instructions is text of up to 4096 characters."],
  response_format: [isAmong(...Object.keys(TYPES)), `response_format is one of ${Object.keys(TYPES).join(", ")}.`],
  speed: [isNumber(0.25, 4), "speed is a number from 0.25 to 4."],
  stream_format: [isAmong("audio"), "Speech comes as the sound itself here: stream_format is audio."],
};

export const createSpeeches =
  ({ call, choose, payerOf, operator }: ApiMedia) =>
  async (body: unknown, client: MediaClient): Promise<Response> => {
    const { model: reference, voice, stream_format: _, ...fields } = checkFields(body, CHECKS, ["input"]);
    const payer = payerOf(client);
    const input = String(fields.input);
    const format = textOf(fields.response_format) ?? "mp3";
    const speed = typeof fields.speed === "number" ? fields.speed : 1;
    const slowest = (60 * input.length) / SLOW_PACE / Math.min(1, speed) + 1;
    const answer = await call<Parameters<typeof priceOf>[0], MediaBody>({
      ...choose(SPEECH, textOf(reference) ?? operator.speech),
      payer,
      path: PATH,
      signal: client.signal,
      bodyFor: ({ model, modelId }) => ({
        body: JSON.stringify({ ...fields, model: modelId, voice: voice ?? model.voice, response_format: format }),
        headers: { "content-type": "application/json" },
      }),
      mostUsd: ({ model }) => priceOf(model, input, slowest),
      async read(response, { model, upstream }) {
        const bytes = await readLimitedBody(response, MAX_BYTES);
        if (!bytes || bytes.length === 0) {
          throw new AppError(502, "PROVIDER_FAILED", `${upstream.label} did not read the text aloud.`);
        }
        const measured = format === "pcm" ? bytes.length / PCM_BYTES_PER_SECOND : recordingOf(bytes)?.seconds;
        const usd = priceOf(model, input, Math.min(measured ?? slowest, slowest));
        const type = response.headers.get("content-type") ?? TYPES[format] ?? "application/octet-stream";
        return { result: { bytes: new Uint8Array(bytes), type }, usage: { inputTokens: 0, outputTokens: 0, usd } };
      },
    });
    return respond(answer);
  };
