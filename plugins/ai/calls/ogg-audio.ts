// Recordings in Ogg, as chat apps make them: the SDK sends WAV and MP3 alone, while some providers take more.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Fetch } from "../providers/providers.ts";

/** How the first bytes of every Ogg file, `OggS`, begin in base64. */
const OGG_AUDIO_PREFIX = '"input_audio":{"data":"T2dnU';
const WAV_FORMAT_SUFFIX = '","format":"wav"';

/** The same model, to which recordings in Ogg may be given; `rightlyNamed` has to be around what it calls. */
export const withOggAudio = (model: LanguageModelV4): LanguageModelV4 => ({
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  doGenerate: (options) => model.doGenerate(relabelPrompt(options)),
  doStream: (options) => model.doStream(relabelPrompt(options)),
});

function relabelPrompt(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  if (!options.prompt.some(hasOgg)) return options;
  return { ...options, prompt: options.prompt.map((message) => (hasOgg(message) ? labelAsWav(message) : message)) };
}

const isOgg = (part: { type: string; mediaType?: string }) => part.type === "file" && part.mediaType === "audio/ogg";

const hasOgg = (message: LanguageModelV4Message) =>
  message.role === "user" && message.content.length > 1 && message.content.some(isOgg);

function labelAsWav(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "user") return message;
  const content = message.content.map((part) => (isOgg(part) ? { ...part, mediaType: "audio/wav" } : part));
  return { ...message, content };
}

/** Tells a provider what a recording is by its first bytes. */
export const relabelOggRequests =
  (send: Fetch): Fetch =>
  (url, init) =>
    typeof init.body === "string" && init.body.includes(OGG_AUDIO_PREFIX)
      ? send(url, { ...init, body: relabelBody(init.body) })
      : send(url, init);

function relabelBody(body: string): string {
  let text = "";
  let from = 0;
  for (let at = body.indexOf(OGG_AUDIO_PREFIX); at >= 0; at = body.indexOf(OGG_AUDIO_PREFIX, from)) {
    // Base64 holds no quotes.
    const end = body.indexOf('"', at + OGG_AUDIO_PREFIX.length);
    if (end < 0) break;
    text += body.slice(from, end) + (body.startsWith(WAV_FORMAT_SUFFIX, end) ? '","format":"ogg"' : "");
    from = body.startsWith(WAV_FORMAT_SUFFIX, end) ? end + WAV_FORMAT_SUFFIX.length : end;
  }
  return text + body.slice(from);
}
