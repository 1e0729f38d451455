// Measures a prompt: its text, and an upper estimate of the tokens of its files.
import type { LanguageModelV4FilePart, LanguageModelV4Prompt } from "@ai-sdk/provider";

/** https://platform.openai.com/docs/guides/images-vision: 85 to 1,445 for the models that count highest, Anthropic's up to 1,600. */
const TOKENS_PER_IMAGE = 1_600;
/** 32 tokens a second of sound (https://ai.google.dev/gemini-api/docs/audio), of which the smallest recordings have 2 kB. */
const AUDIO_BYTES_PER_TOKEN = 60;
/** At least 16 kB a second, the lowest quality that phones record. */
const WAV_BYTES_PER_TOKEN = 500;
/** Up to 3,000 tokens a page (https://docs.anthropic.com/en/docs/build-with-claude/pdf-support), of which dense ones have 50 kB. */
const TOKENS_PER_PDF_PAGE = 3_000;
const BYTES_PER_PDF_PAGE = 50_000;

/** `text`: the prompt as JSON without the bytes of files; `fileTokens`: a high estimate of their tokens. */
export function promptSize(prompt: LanguageModelV4Prompt): { text: string; fileTokens: number } {
  const files = prompt.flatMap(({ role, content }) =>
    role === "user" && content.length > 1 ? content.filter((part) => part.type === "file") : [],
  );
  if (files.length === 0) return { text: JSON.stringify(prompt), fileTokens: 0 };
  const text = JSON.stringify(prompt, (_, value: unknown) => (isFileData(value) ? "" : value));
  return { text, fileTokens: files.reduce((sum, file) => sum + tokensOfFile(file), 0) };
}

function tokensOfFile({ mediaType, data }: LanguageModelV4FilePart): number {
  if (mediaType.startsWith("image/")) return TOKENS_PER_IMAGE;
  const bytes = data.type === "data" ? (data.data.length * 3) / 4 : 0;
  if (mediaType === "audio/wav") return Math.ceil(bytes / WAV_BYTES_PER_TOKEN);
  if (mediaType.startsWith("audio/")) return Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN);
  return Math.ceil(bytes / BYTES_PER_PDF_PAGE) * TOKENS_PER_PDF_PAGE;
}

/** The bytes of a file, as the AI SDK's file parts hold them. */
const isFileData = (value: unknown) =>
  typeof value === "object" && value !== null && "type" in value && value.type === "data" && "data" in value;
