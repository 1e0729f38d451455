// Recordings in Ogg, as chat apps make them: the SDK sends WAV and MP3 alone, while some providers take more.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Fetch } from "./providers.ts";

/** How the first bytes of every Ogg file, `OggS`, begin in base64. */
const OGG = '"input_audio":{"data":"T2dnU';
const AS_WAV = '","format":"wav"';

/** The same model, to which recordings in Ogg may be given; `rightlyNamed` has to be around what it calls. */
export const hearingOgg = (model: LanguageModelV4): LanguageModelV4 => ({
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  doGenerate: (options) => model.doGenerate(disguised(options)),
  doStream: (options) => model.doStream(disguised(options)),
});

function disguised(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  if (!options.prompt.some(hasOgg)) return options;
  return { ...options, prompt: options.prompt.map((message) => (hasOgg(message) ? asWav(message) : message)) };
}

const isOgg = (part: { type: string; mediaType?: string }) => part.type === "file" && part.mediaType === "audio/ogg";

const hasOgg = (message: LanguageModelV4Message) =>
  message.role === "user" && message.content.length > 1 && message.content.some(isOgg);

function asWav(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "user") return message;
  const content = message.content.map((part) => (isOgg(part) ? { ...part, mediaType: "audio/wav" } : part));
  return { ...message, content };
}

/** Tells a provider what a recording is by its first bytes. */
export const rightlyNamed =
  (send: Fetch): Fetch =>
  (url, init) =>
    typeof init.body === "string" && init.body.includes(OGG)
      ? send(url, { ...init, body: named(init.body) })
      : send(url, init);

function named(body: string): string {
  let text = "";
  let from = 0;
  for (let at = body.indexOf(OGG); at >= 0; at = body.indexOf(OGG, from)) {
    // Base64 holds no quotes.
    const end = body.indexOf('"', at + OGG.length);
    if (end < 0) break;
    text += body.slice(from, end) + (body.startsWith(AS_WAV, end) ? '","format":"ogg"' : "");
    from = body.startsWith(AS_WAV, end) ? end + AS_WAV.length : end;
  }
  return text + body.slice(from);
}
