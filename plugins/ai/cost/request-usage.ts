// Computes the most tokens that an API request may use: from its text, and from the files in its messages.
import { estimateTokensUpperBound, type MaxUsage } from "../providers/pricing.ts";

type Json = Readonly<Record<string, unknown>>;

/** The model that a request is measured for. */
interface MeasuredModel {
  id: string;
  /** Tokens; called only where it matters. */
  contextWindow(): number;
}

/** The parts of a chat request that cost in another way than their text does. */
interface RequestParts {
  pictures: number;
  audioTokens: number;
  hasPdf: boolean;
  /** The bytes of files, which are no text: data addresses, or base64. */
  fileData: string[];
  writesCache: boolean;
}

/** 85 to 1,445 for most models (https://platform.openai.com/docs/guides/images-vision), up to 4,784 for Anthropic's. */
const TOKENS_PER_PICTURE = 5_000;
/** Eight tiles of 5,667 and a base of 2,833, by the same page. */
const TOKENS_PER_PICTURE_GPT_4O_MINI = 48_169;
/** 32 tokens a second (https://ai.google.dev/gemini-api/docs/audio), of which the smallest MP3 has 1,000 bytes. */
const AUDIO_BYTES_PER_TOKEN = 30;

/** Measures a chat request once; the result computes its most tokens for a model. */
export function measureChat(text: string, body: object, outputTokens: number): (model: MeasuredModel) => MaxUsage {
  const { pictures, audioTokens, hasPdf, fileData, writesCache } = partsOf(body);
  const textTokens = estimateTokensUpperBound(fileData.length === 0 ? text : textWithout(fileData, body));
  return ({ id, contextWindow }) => {
    const pictureTokens = id.includes("gpt-4o-mini") ? TOKENS_PER_PICTURE_GPT_4O_MINI : TOKENS_PER_PICTURE;
    const known = textTokens + audioTokens + pictures * pictureTokens;
    // A small PDF can have any number of pages.
    const inputTokens = hasPdf ? Math.max(known, contextWindow()) : known;
    return { inputTokens, outputTokens, audioInputTokens: audioTokens, pictures, writesCache };
  };
}

/** The most tokens of an embeddings request, whose input may be a list of tokens. */
export function measureEmbeddings(text: string, { input }: Json): MaxUsage {
  const items: unknown[] = Array.isArray(input) ? input : [];
  const count = items.reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 1), 0);
  const inputTokens = Math.max(estimateTokensUpperBound(text), count);
  return { inputTokens, outputTokens: 0, audioInputTokens: 0, pictures: 0, writesCache: false };
}

function partsOf(body: object): RequestParts {
  const { messages, tools } = body as { messages?: unknown; tools?: unknown };
  const parts: RequestParts = { pictures: 0, audioTokens: 0, hasPdf: false, fileData: [], writesCache: false };
  for (const message of objectsIn(messages)) {
    if ("cache_control" in message) parts.writesCache = true;
    for (const part of objectsIn(message.content)) addPart(parts, part);
  }
  for (const tool of objectsIn(tools)) if ("cache_control" in tool) parts.writesCache = true;
  return parts;
}

function addPart(parts: RequestParts, part: Json): void {
  if ("cache_control" in part) parts.writesCache = true;
  if ("image_url" in part) {
    const { image_url: picture } = part;
    parts.pictures++;
    addData(parts, typeof picture === "string" ? picture : field(picture, "url"));
  }
  if ("input_audio" in part) {
    const data = field(part.input_audio, "data");
    const characters = typeof data === "string" ? data.length : 0;
    parts.audioTokens += Math.ceil((characters * 3) / 4 / AUDIO_BYTES_PER_TOKEN);
    if (typeof data === "string") parts.fileData.push(data);
  }
  if ("file" in part) {
    parts.hasPdf = true;
    addData(parts, field(part.file, "file_data"));
  }
}

function addData(parts: RequestParts, url: unknown): void {
  if (typeof url === "string" && url.startsWith("data:")) parts.fileData.push(url);
}

/** The request as JSON, without the bytes of files: each of these texts is left out once, since it may be a message's text, too. */
function textWithout(fileData: readonly string[], body: object): string {
  const left = new Map<string, number>();
  for (const data of fileData) left.set(data, (left.get(data) ?? 0) + 1);
  return JSON.stringify(body, (_, value: unknown) => {
    const times = typeof value === "string" ? left.get(value) : undefined;
    if (typeof value !== "string" || !times) return value;
    left.set(value, times - 1);
    return "";
  });
}

const field = (value: unknown, key: string): unknown => (Object(value) as Json)[key];

function* objectsIn(list: unknown): Generator<Json, void> {
  if (Array.isArray(list)) for (const one of list) if (typeof one === "object" && one !== null) yield one;
}
