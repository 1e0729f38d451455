// Fetches the files of the message that is answered, for a program.
import type { MessageFile, ToolContext } from "../skills/index.ts";
import { LIMITS } from "./runner/limits.ts";
import type { InputFile } from "./runner/protocol.ts";

/** The files of the message with their bytes, as far as they fit. */
export async function loadMessageFiles({ files = [], signal }: ToolContext): Promise<InputFile[]> {
  let left: number = LIMITS.inputsBytes;
  const loaded: InputFile[] = [];
  for (const file of files) {
    const { name, mediaType, size } = file;
    const limit = Math.min(LIMITS.inputBytes, left);
    const content = size !== undefined && size > limit ? { error: TOO_LARGE } : await contentOf(file, limit, signal);
    left -= "bytes" in content ? content.bytes.length : 0;
    loaded.push({ name, mediaType, ...(size !== undefined && { size }), ...content });
  }
  return loaded;
}

const TOO_LARGE = `This file is too large: programs read files of up to ${LIMITS.inputBytes / 1e6} MB, and ${LIMITS.inputsBytes / 1e6} MB in all.`;

async function contentOf(
  file: MessageFile,
  limit: number,
  signal: AbortSignal,
): Promise<{ bytes: Uint8Array<ArrayBuffer> } | { error: string }> {
  try {
    const bytes = await file.read(limit, signal);
    // A copy, because the bytes are given to the thread.
    return bytes ? { bytes: new Uint8Array(bytes) } : { error: "This file is gone, or too large." };
  } catch {
    signal.throwIfAborted();
    return { error: "This file can't be fetched right now." };
  }
}
