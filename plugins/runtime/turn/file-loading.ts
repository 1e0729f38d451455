// Files that came with a message: fetched when its turn runs, told apart by what they are, and shown to a model that takes them.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import { AppError } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import type { InputModality } from "../../ai/index.ts";
import { wrapUntrusted } from "../../skills/index.ts";
import type { Attachment } from "../inbox/attachments.ts";
import type { FetchFile } from "../platforms.ts";

/** What of a message's files a model can be shown. */
export interface LoadedFiles {
  /** For the prompt, after the message's text. */
  parts: (LanguageModelV4TextPart | LanguageModelV4FilePart)[];
  /** Sentences that say which files are not among them, and what their sender can do. */
  omissions: string[];
}

export interface LoadFilesRequest {
  agentId: string;
  files: readonly Attachment[];
  /** What the model takes. */
  acceptedInputs: readonly InputModality[];
  fetch: FetchFile;
  /** A fetch that fails is worth another turn; else the file counts as not to be had. */
  canRetry: boolean;
  signal: AbortSignal;
}

const MAX_FILES = 4;
const MAX_BYTES = 10_000_000;
const MAX_TEXT = 64 * 1024;
/** Milliseconds for all files of a message. */
const FETCH_TIMEOUT = 30_000;
/** Bytes of files that turns hold at once; a prompt holds each about three times. */
const fileMemory = createSemaphore(64_000_000);

/**
 * Fetches what the model takes. Rejects with 503 where that failed and may succeed later. `release` is called when the
 * turn has ended: the bytes count as held until then.
 */
export async function loadFiles(request: LoadFilesRequest): Promise<LoadedFiles & { release(): void }> {
  const { files, acceptedInputs } = request;
  const omissions = new Set<string>();
  const wanted: [Attachment, ContentKind][] = [];
  for (const file of files) {
    const contentKind = claimedKind(file);
    const reason =
      wanted.length >= MAX_FILES
        ? TOO_MANY
        : (unsupportedReason(file, contentKind, acceptedInputs) ?? tooLargeReason(file, contentKind));
    if (reason === undefined) wanted.push([file, contentKind]);
    else if (!file.optional) omissions.add(reason);
  }
  const release = await fileMemory.acquire(
    wanted.reduce((sum, [{ size }, contentKind]) => sum + Math.min(size ?? MAX_BYTES, maxBytesOf(contentKind)), 0),
    { signal: request.signal },
  );
  try {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(FETCH_TIMEOUT)]);
    const loaded = await Promise.all(wanted.map(([file, contentKind]) => loadFile(request, file, contentKind, signal)));
    const parts = loaded.flatMap((one, n) => {
      if (typeof one !== "string") return [one];
      if (!wanted[n]?.[0].optional) omissions.add(one);
      return [];
    });
    return { parts, omissions: [...omissions], release };
  } catch (error) {
    release();
    throw error;
  }
}

/** The part of the prompt, or why there is none. */
async function loadFile(
  { agentId, acceptedInputs, fetch, canRetry, signal: turnSignal }: LoadFilesRequest,
  file: Attachment,
  contentKind: ContentKind,
  signal: AbortSignal,
): Promise<LanguageModelV4TextPart | LanguageModelV4FilePart | string> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await fetch(agentId, file, maxBytesOf(contentKind), signal);
  } catch (cause) {
    turnSignal.throwIfAborted();
    const text = "A file of this message can't be fetched right now. Try again shortly.";
    if (canRetry) throw new AppError(503, "FILE_UNAVAILABLE", text, {}, { cause });
  }
  if (!bytes) return FILE_GONE;
  const { name } = file;
  if (contentKind === "text") {
    const text = decodeText(bytes);
    return text === undefined
      ? unknownKindMessage(file)
      : { type: "text", text: wrapUntrusted(sanitizeName(name ?? "a file"), text) };
  }
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined || !mediaType.includes(contentKind)) {
    return contentKind === "audio" ? unsupportedAudioMessage(file) : unknownKindMessage(file);
  }
  if (mediaType === "audio/ogg" && !acceptedInputs.includes("ogg")) return unsupportedAudioMessage(file);
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return {
    type: "file",
    mediaType,
    data: { type: "data", data },
    ...(name && contentKind === "pdf" ? { filename: sanitizeName(name) } : {}),
  };
}

type ContentKind = InputModality | "text" | "video" | "other";

const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|csv|javascript|sql|x-sh|x-ndjson)\b|.*\+(?:json|xml)$)/;
const TEXT_NAMES =
  /\.(?:txt|md|markdown|csv|tsv|json|jsonl|ndjson|ya?ml|toml|xml|html?|css|log|ini|conf|sql|sh|py|[cm]?[jt]sx?|java|go|rs|c|h|cpp|rb|php|srt|vtt)$/i;

/** What a file claims to be, by its type, else its name. */
function claimedKind({ kind, mimeType, name = "" }: Attachment): ContentKind {
  const type = mimeType.toLowerCase().split(";")[0]?.trim() ?? "";
  if (kind === "video" || type.startsWith("video/")) return "video";
  if (type === "image/svg+xml") return "text";
  if (kind === "image" || type.startsWith("image/")) return "image";
  if (kind === "audio" || type.startsWith("audio/")) return "audio";
  if (type === "application/pdf" || /\.pdf$/i.test(name)) return "pdf";
  return TEXT_TYPES.test(type) || TEXT_NAMES.test(name) ? "text" : "other";
}

const maxBytesOf = (contentKind: ContentKind) => (contentKind === "text" ? MAX_TEXT : MAX_BYTES);

const TOO_MANY = `I can open only ${MAX_FILES} files of one message. Send me the others in a message of their own.`;
const FILE_GONE = "I could not get a file from this chat. Send it once more, please.";
export const UNREADABLE = "The model I use could not read a file of this message.";
const unknownKindMessage = ({ name }: Attachment) =>
  `I can't open files of this kind${name ? ` (${sanitizeName(name)})` : ""}. Pictures, PDF files and short texts may work.`;
const unsupportedAudioMessage = ({ mimeType }: Attachment) =>
  `I can't listen to recordings of this kind (${sanitizeName(mimeType)}). Write it to me, or send it as an MP3 or WAV file.`;

/** Why the model can't be shown a file at all. */
function unsupportedReason(
  file: Attachment,
  contentKind: ContentKind,
  acceptedInputs: readonly InputModality[],
): string | undefined {
  if (contentKind === "text") return undefined;
  if (contentKind === "video") return "I can't watch videos. Tell me what it shows, and I'll go on from there.";
  if (contentKind === "other") return unknownKindMessage(file);
  if (acceptedInputs.includes(contentKind)) {
    if (contentKind !== "audio" || !/ogg|opus|mp4|m4a|aac|amr|flac|webm/i.test(file.mimeType)) return undefined;
    return /ogg|opus/i.test(file.mimeType) && acceptedInputs.includes("ogg")
      ? undefined
      : unsupportedAudioMessage(file);
  }
  if (contentKind === "image") return "I can't look at pictures with the model I use. Tell me what it shows.";
  if (contentKind === "audio") return "I can't listen to recordings with the model I use. Write it to me, please.";
  return "I can't open PDF files with the model I use. Copy the text that matters into a message.";
}

function tooLargeReason({ size = 0, name }: Attachment, contentKind: ContentKind): string | undefined {
  if (size <= maxBytesOf(contentKind)) return undefined;
  const most = contentKind === "text" ? `${MAX_TEXT / 1024} KB for texts` : `${MAX_BYTES / 1_000_000} MB`;
  return `This file is too large for me${name ? ` (${sanitizeName(name)})` : ""}: ${most} is the most.`;
}

/** A name from outside, harmless wherever it is shown. */
const sanitizeName = (name: string) => name.replace(/[^\p{L}\p{N} ._()/+-]/gu, "_").slice(0, 100);

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    // Not UTF-8: whatever it is called, it is no text that a model could read.
    return undefined;
  }
}

/** By the first bytes, for the kinds that providers take: what a file is called, a provider would refuse if it were wrong. */
function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  if (/^RIFF[\s\S]{4}WEBP/.test(head)) return "image/webp";
  if (/^RIFF[\s\S]{4}WAVE/.test(head)) return "audio/wav";
  if (head.startsWith("OggS")) return "audio/ogg";
  if (head.startsWith("ID3") || /^\xff[\xe2-\xe7\xf2-\xff]/.test(head)) return "audio/mpeg";
  return head.startsWith("%PDF-") ? "application/pdf" : undefined;
}
