// Fetches the files of a message when its turn runs, and makes prompt parts of those that the model accepts.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import { AppError } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { InputModality } from "../../ai/index.ts";
import { wrapUntrusted } from "../../skills/index.ts";
import type { Attachment } from "../inbox/attachments.ts";
import { mediaTypeOf } from "../inbox/media-type.ts";
import type { FetchFile } from "../platforms.ts";

/** The files of a message as parts of a prompt. */
export interface LoadedFiles {
  /** For the prompt, after the message's text. */
  parts: (LanguageModelV4TextPart | LanguageModelV4FilePart)[];
  /** Sentences that say which files are left out, and what the sender can do. */
  omissions: string[];
}

export interface LoadFilesRequest {
  agentId: string;
  files: readonly Attachment[];
  /** The modalities that the model accepts. */
  acceptedInputs: readonly InputModality[];
  fetch: FetchFile;
  /** Whether a failed fetch rejects, so that the turn is tried again; else the file counts as gone. */
  canRetry: boolean;
  signal: AbortSignal;
}

export const MAX_FILES = 4;
const MAX_BYTES = 10_000_000;
const MAX_TEXT = 64 * 1024;
/** Characters of a file's name that the model gets: room for a name, little for a message of its author. */
const MAX_SHOWN_NAME = 64;
/** The time limit for a file. */
const FETCH_TIMEOUT = 30 * SECOND;
/** Limits the bytes of files in memory over all turns; a prompt holds each file about three times. */
const fileMemory = createSemaphore(64_000_000);

/**
 * Fetches the files that the model accepts. Call `release` when the turn has ended: the bytes count as memory until then.
 * @throws AppError 503 `FILE_UNAVAILABLE` when a fetch failed and a later try may succeed
 */
export async function loadFiles(request: LoadFilesRequest): Promise<LoadedFiles & { release(): void }> {
  const { files, acceptedInputs } = request;
  const omissions = new Set<string>();
  const selected: [Attachment, ContentKind][] = [];
  for (const file of files) {
    const contentKind = claimedKind(file);
    const reason =
      selected.length >= MAX_FILES
        ? TOO_MANY
        : (unsupportedReason(file, contentKind, acceptedInputs) ?? tooLargeReason(file, contentKind));
    if (reason === undefined) selected.push([file, contentKind]);
    else if (!file.optional) omissions.add(reason);
  }
  const release = await holdFileMemory(
    selected.map(([file]) => file),
    request.signal,
  );
  try {
    const loaded = await Promise.all(selected.map(([file, contentKind]) => loadFile(request, file, contentKind)));
    const parts = loaded.flatMap((one, n) => {
      if (typeof one !== "string") return [one];
      if (!selected[n]?.[0].optional) omissions.add(one);
      return [];
    });
    return { parts, omissions: [...omissions], release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Waits for memory to hold these files; the result gives it back. */
export const holdFileMemory = (files: readonly Attachment[], signal: AbortSignal) =>
  fileMemory.acquire(
    files.reduce((sum, file) => sum + Math.min(file.size ?? MAX_BYTES, maxBytesOf(claimedKind(file))), 0),
    { signal },
  );

/**
 * The bytes of a file; undefined if it is gone.
 * @throws as `loadFiles`
 */
export async function fetchBytes(
  { agentId, fetch, canRetry, signal }: LoadFilesRequest,
  file: Attachment,
  contentKind: ContentKind,
): Promise<Uint8Array | undefined> {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(FETCH_TIMEOUT)]);
    return await fetch(agentId, file, maxBytesOf(contentKind), limited);
  } catch (cause) {
    signal.throwIfAborted();
    const text = "A file of this message can't be fetched right now. Try again shortly.";
    if (canRetry) throw new AppError(503, "FILE_UNAVAILABLE", text, {}, { cause });
    return undefined;
  }
}

/** The part of the prompt, or the sentence that says why the file is left out. */
async function loadFile(
  request: LoadFilesRequest,
  file: Attachment,
  contentKind: ContentKind,
): Promise<LanguageModelV4TextPart | LanguageModelV4FilePart | string> {
  const { acceptedInputs } = request;
  const bytes = await fetchBytes(request, file, contentKind);
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

/** The kind that a file claims, by its type, else by its name. */
export function claimedKind({ kind, mimeType, name = "" }: Attachment): ContentKind {
  const type = mimeType.toLowerCase().split(";")[0]?.trim() ?? "";
  if (kind === "video" || type.startsWith("video/")) return "video";
  if (type === "image/svg+xml") return "text";
  if (kind === "image" || type.startsWith("image/")) return "image";
  if (kind === "audio" || type.startsWith("audio/")) return "audio";
  if (type === "application/pdf" || /\.pdf$/i.test(name)) return "pdf";
  return TEXT_TYPES.test(type) || TEXT_NAMES.test(name) ? "text" : "other";
}

const maxBytesOf = (contentKind: ContentKind) => (contentKind === "text" ? MAX_TEXT : MAX_BYTES);

const TOO_MANY = `I can open only ${MAX_FILES} files of one message. Send me the others in another message.`;
export const FILE_GONE = "I could not get a file from this chat. Send it once more, please.";
export const CANT_LISTEN =
  "I can't listen to recordings with the model I use. Write it to me, please; my owner can add a model for it.";
export const UNREADABLE = "The model I use could not read a file of this message.";
const nameInBrackets = ({ name }: Attachment) => (name ? ` (${sanitizeName(name)})` : "");
const unknownKindMessage = (file: Attachment) =>
  `I can't open files of this kind${nameInBrackets(file)}. Pictures, PDF files and short texts may work.`;
export const unsupportedAudioMessage = ({ mimeType }: Attachment) =>
  `I can't listen to recordings of this kind (${sanitizeName(mimeType)}). Write it to me, or send it as an MP3 or WAV file.`;

/** The sentence for a file of a kind that the model does not accept; undefined for others. */
export function unsupportedReason(
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
  if (contentKind === "audio") return CANT_LISTEN;
  return "I can't open PDF files with the model I use. Copy the text that matters into a message.";
}

export function tooLargeReason(file: Attachment, contentKind: ContentKind): string | undefined {
  if ((file.size ?? 0) <= maxBytesOf(contentKind)) return undefined;
  const most = contentKind === "text" ? `${MAX_TEXT / 1024} KB for texts` : `${MAX_BYTES / 1_000_000} MB`;
  return `This file is too large for me${nameInBrackets(file)}: ${most} is the most.`;
}

/** Replaces characters that could act as markup, or end the parentheses around the name, and cuts it. */
export const sanitizeName = (name: string) =>
  [...name.replace(/[^\p{L}\p{N} ._/+-]/gu, "_")].slice(0, MAX_SHOWN_NAME).join("");

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    // Not UTF-8, so it is no text, whatever its name says.
    return undefined;
  }
}
