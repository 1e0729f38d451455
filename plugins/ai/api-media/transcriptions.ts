// Writes down recordings for API clients: OpenAI's /audio/transcriptions, passed on to the provider that serves the model.
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import { readLimitedBody } from "../../../src/kernel/util/limited-body.ts";
import { recordingOf } from "../audio/recording.ts";
import { extensionOf, minutes, TOKEN_MARGIN, usageOf } from "../audio/transcription.ts";
import { type MediaCandidate, TRANSCRIPTION } from "../media/media-models.ts";
import type { TranscriptionModel } from "../providers/provider.ts";
import { type ApiMedia, type MediaBody, type MediaClient, respond } from "./media-client.ts";
import { checkFields, type FieldChecks, isAmong, isText, MODEL, textOf } from "./media-fields.ts";

type Candidate = MediaCandidate<TranscriptionModel>;

const PATH = "/audio/transcriptions";
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const JSON_FORMATS: readonly unknown[] = ["json", "verbose_json"];

const CHECKS: FieldChecks = {
  file: [(value) => value instanceof File && value.size > 0, "Send the recording in the form's field `file`."],
  model: MODEL,
  language: [isText(10), "language is a code, such as en."],
  prompt: [isText(4_000), "prompt is text of up to 4000 characters."],
  response_format: [
    isAmong("json", "text", "srt", "verbose_json", "vtt"),
    "response_format is json, text, srt, verbose_json or vtt.",
  ],
  temperature: [(value) => Number(value) >= 0 && Number(value) <= 1, "temperature is a number from 0 to 1."],
  "timestamp_granularities[]": [isAmong("word", "segment"), "timestamp_granularities[] are word and segment."],
  stream: [isAmong("false"), "Transcripts are not streamed here. Leave stream out."],
};

export const createTranscriptions =
  ({ call, choose, payerOf, operator }: ApiMedia) =>
  async (form: FormData, client: MediaClient): Promise<Response> => {
    const fields = checkFields(Object.fromEntries([...form.keys()].map((name) => [name, form.get(name)])), CHECKS, [
      "file",
    ]);
    const payer = payerOf(client);
    const file = fields.file as File;
    const bytes = new Uint8Array(await file.arrayBuffer());
    const recording = recordingOf(bytes);
    if (!recording) {
      throw invalidInput({
        path: "file",
        message: "This is no recording that is known here: send MP3, WAV, Ogg, MP4, WebM or FLAC.",
      });
    }
    const { mediaType, seconds } = recording;
    const format = textOf(fields.response_format) ?? "json";
    const granularities = form.getAll("timestamp_granularities[]");

    function bodyFor({ upstream: { definition, label }, modelId }: Candidate) {
      if (definition.transcriptionBody === "json") {
        if (format !== "json" && format !== "text") {
          throw invalidInput({ path: "response_format", message: `${label} has json and text only.` });
        }
        const input_audio = { data: Buffer.from(bytes).toString("base64"), format: extensionOf(mediaType) };
        const language = textOf(fields.language);
        const body = JSON.stringify({ model: modelId, input_audio, ...(language && { language }) });
        return { body, headers: { "content-type": "application/json" } };
      }
      const sent = new FormData();
      sent.set("model", modelId);
      sent.set("file", new File([bytes], `audio.${extensionOf(mediaType)}`, { type: mediaType }));
      sent.set("response_format", format);
      for (const name of ["language", "prompt", "temperature"]) {
        const value = textOf(fields[name]);
        if (value !== undefined) sent.set(name, value);
      }
      for (const value of granularities) sent.append("timestamp_granularities[]", String(value));
      return { body: sent };
    }

    const answer = await call<TranscriptionModel, MediaBody>({
      ...choose(TRANSCRIPTION, textOf(fields.model) ?? operator.transcription),
      payer,
      path: PATH,
      signal: client.signal,
      bodyFor,
      mostUsd: ({ model }) => minutes(model, seconds) * model.perMinute * (model.perMillion ? TOKEN_MARGIN : 1),
      async read(response, candidate) {
        const { upstream } = candidate;
        const whole = await readLimitedBody(response, MAX_ANSWER_BYTES);
        if (!whole) throw new AppError(502, "PROVIDER_FAILED", "The transcript is too long.");
        const type = response.headers.get("content-type") ?? "text/plain;charset=utf-8";
        const cameAsJson = JSON_FORMATS.includes(format) || upstream.definition.transcriptionBody === "json";
        if (!cameAsJson)
          return { result: { bytes: new Uint8Array(whole), type }, usage: usageOf(undefined, candidate, seconds) };
        const transcript = parse(whole);
        const { text } = Object(transcript) as { text?: unknown };
        if (typeof text !== "string") {
          throw new AppError(502, "PROVIDER_FAILED", `${upstream.label} did not write the recording down.`);
        }
        const isText = format === "text";
        const result = isText
          ? { bytes: new TextEncoder().encode(`${text}\n`), type: "text/plain;charset=utf-8" }
          : { bytes: new Uint8Array(whole), type: "application/json" };
        return { result, usage: usageOf(transcript, candidate, seconds) };
      },
    });
    return respond(answer);
  };

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Such as the page of a proxy: there is no transcript in it.
    return undefined;
  }
}
