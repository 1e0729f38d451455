// Sends Ogg recordings, which chat apps make, through an SDK that sends only WAV and MP3: they pass it labelled as WAV, and
// the request is relabelled behind it.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Fetch } from "../providers/providers.ts";
import { wrapModel } from "./wrap-model.ts";

/** An audio part that begins with `OggS`, the first bytes of every Ogg file, in base64. */
const OGG_AUDIO_PREFIX = '"input_audio":{"data":"T2dnU';
const WAV_FORMAT_SUFFIX = '","format":"wav"';

/** The same model, which accepts Ogg recordings. Its requests must go through `relabelOggRequests`. */
export const withOggAudio = (model: LanguageModelV4): LanguageModelV4 => wrapModel(model, relabelPrompt);

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

/** Corrects the format of each recording in a request whose first bytes are those of Ogg. */
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
