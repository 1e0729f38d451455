// The audio endpoints of the fake provider: they check forms and bodies as OpenAI and OpenRouter do, and answer in their forms.
// https://platform.openai.com/docs/api-reference/audio, https://openrouter.ai/docs/guides/overview/multimodal/stt
import { RefusalError } from "./upstream-protocol.ts";

/** A recording that was sent to be written down. */
export interface HeardRecording {
  model: string;
  bytes: Buffer;
  /** The end of the file's name, or the format. */
  format: string;
  language: string | undefined;
  responseFormat: string | undefined;
  /** How it was sent. */
  body: "form" | "json";
}

/** A text that was sent to be read aloud. */
export interface SpokenText {
  model: string;
  input: string;
  voice: string;
  responseFormat: string;
  instructions: string | undefined;
}

export type AudioFailure = { status: number; message?: string } | { hang: true };
/** The words of a recording, or a failure. */
export type Hearing = (recording: HeardRecording) => AudioReply<string>;
/** The sound of a text, or a failure. */
export type Speaking = (text: SpokenText) => AudioReply<Uint8Array<ArrayBuffer>>;
type AudioReply<Answer> = Answer | AudioFailure | Promise<Answer | AudioFailure>;

export interface AudioScript {
  hears: Hearing;
  speaks: Speaking;
}

const SIGNS: Readonly<Record<string, RegExp>> = {
  ogg: /^OggS/,
  wav: /^RIFF[\s\S]{4}WAVE/,
  mp3: /^(?:ID3|\xff[\xe0-\xff])/,
  m4a: /^[\s\S]{4}ftyp/,
  webm: /^[\s\S]E\xdf\xa3/,
  flac: /^fLaC/,
};
/** May come several times. */
const GRANULARITIES = "timestamp_granularities[]";
const FORM_FIELDS = ["file", "model", "language", "response_format", "prompt", "temperature", GRANULARITIES];
const MAX_BYTES = 25 * 1024 * 1024;
/** What a scripted recording lasts, in seconds. */
export const HEARD_SECONDS = 30;
const HEARD_TOKENS = { input_tokens: 300, output_tokens: 80, total_tokens: 380 };

const bad = (message: string, param: string | null = null) => new RefusalError(400, message, param);

export async function writeDown(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  { hears }: AudioScript,
  heard: HeardRecording[],
  signal: AbortSignal,
): Promise<Response> {
  const isForm = contentType.startsWith("multipart/form-data");
  const recording = isForm ? await readForm(body, contentType) : readBody(body, contentType);
  checkSound(recording);
  heard.push(recording);
  const words = await hears(recording);
  if (typeof words !== "string") return failure(words, signal);
  if (!isForm) return Response.json({ text: words, usage: { seconds: HEARD_SECONDS, cost: 0.000_333 } });
  if (recording.responseFormat === "verbose_json") {
    return Response.json({
      task: "transcribe",
      language: "english",
      duration: HEARD_SECONDS,
      text: words,
      segments: [],
    });
  }
  const input_token_details = { text_tokens: 0, audio_tokens: HEARD_TOKENS.input_tokens };
  return Response.json({ text: words, usage: { type: "tokens", ...HEARD_TOKENS, input_token_details } });
}

async function readForm(body: Uint8Array<ArrayBuffer>, contentType: string): Promise<HeardRecording> {
  if (!/; *boundary=/.test(contentType)) throw bad("The form has no boundary.");
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  for (const name of form.keys()) if (!FORM_FIELDS.includes(name)) throw bad(`Unrecognized field: ${name}`, name);
  const text = (name: string) => {
    const values = form.getAll(name);
    if (values.length > 1 || values.some((value) => typeof value !== "string")) throw bad(`Invalid '${name}'.`, name);
    return values[0] as string | undefined;
  };
  const file = form.get("file");
  if (!(file instanceof File) || file.size === 0) throw bad("you must provide a file", "file");
  const [model, language, responseFormat] = [text("model"), text("language"), text("response_format")];
  if (!model) throw bad("you must provide a model parameter", "model");
  const formats = /whisper/.test(model) ? ["json", "text", "srt", "verbose_json", "vtt"] : ["json", "text"];
  if (responseFormat !== undefined && !formats.includes(responseFormat)) {
    throw bad(`response_format '${responseFormat}' is not compatible with model '${model}'.`, "response_format");
  }
  if (form.has(GRANULARITIES) && responseFormat !== "verbose_json") {
    throw bad("timestamp_granularities[] need the response_format verbose_json.", GRANULARITIES);
  }
  const format = file.name.slice(file.name.lastIndexOf(".") + 1);
  return { model, language, responseFormat, format, bytes: Buffer.from(await file.arrayBuffer()), body: "form" };
}

function readBody(body: Uint8Array<ArrayBuffer>, contentType: string): HeardRecording {
  if (!contentType.startsWith("application/json")) throw bad(`Unsupported content type: '${contentType}'.`);
  const { model, input_audio: audio, language, ...rest } = JSON.parse(Buffer.from(body).toString());
  const [other] = Object.keys(rest);
  if (other !== undefined) throw bad(`Unrecognized key: ${other}`, other);
  const { data, format } = Object(audio);
  if (typeof model !== "string" || !model.includes("/")) throw bad("Invalid model.", "model");
  if (typeof data !== "string" || !/^[A-Za-z0-9+/]+=*$/.test(data)) throw bad("Invalid base64.", "input_audio.data");
  if (typeof format !== "string") throw bad("Invalid format.", "input_audio.format");
  return { model, language, format, responseFormat: undefined, bytes: Buffer.from(data, "base64"), body: "json" };
}

function checkSound({ bytes, format, language }: HeardRecording): void {
  const sign = SIGNS[format];
  if (!sign) throw bad(`Unrecognized file format. Supported formats: ${Object.keys(SIGNS).join(", ")}`);
  if (!sign.test(bytes.toString("latin1", 0, 16))) throw bad("Audio file might be corrupted or unsupported");
  if (bytes.length > MAX_BYTES) throw new RefusalError(413, "Maximum content size limit exceeded");
  if (language !== undefined && !/^[a-z]{2}$/.test(language)) throw bad("Invalid language.", "language");
}

const SPEECH_FIELDS = ["model", "input", "voice", "response_format", "speed", "instructions"];
const SOUND_TYPES: Readonly<Record<string, string>> = { opus: "audio/ogg", mp3: "audio/mpeg", wav: "audio/wav" };

export async function readAloud(
  body: unknown,
  { speaks }: AudioScript,
  spoken: SpokenText[],
  signal: AbortSignal,
): Promise<Response> {
  const { model, input, voice, response_format: responseFormat = "mp3", instructions, ...rest } = Object(body);
  const other = Object.keys(rest).find((name) => !SPEECH_FIELDS.includes(name));
  if (other !== undefined) throw bad(`Unrecognized request argument supplied: ${other}`, other);
  if (typeof model !== "string" || model === "") throw bad("you must provide a model parameter", "model");
  if (typeof input !== "string" || input === "") throw bad("Input should be a valid string", "input");
  if (input.length > 4_096) throw bad("String should have at most 4096 characters", "input");
  if (typeof voice !== "string" || !/^\w+$/.test(voice)) throw bad("Invalid voice.", "voice");
  const type = SOUND_TYPES[responseFormat];
  if (!type) throw bad("Invalid response_format.", "response_format");
  if (instructions !== undefined && /^tts-1/.test(model)) throw bad("instructions are not supported.", "instructions");
  const text: SpokenText = { model, input, voice, responseFormat, instructions };
  spoken.push(text);
  const sound = await speaks(text);
  if (!(sound instanceof Uint8Array)) return failure(sound, signal);
  return new Response(sound, { headers: { "content-type": type } });
}

async function failure(reply: AudioFailure, signal: AbortSignal): Promise<Response> {
  if ("hang" in reply) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return new Response(null, { status: 499 });
  }
  throw new RefusalError(reply.status, reply.message ?? `Fake failure ${reply.status}.`);
}
