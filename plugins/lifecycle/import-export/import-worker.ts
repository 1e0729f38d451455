// The thread that reads large files of exported agents, and all files of other programs: it takes up to a second.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Takeover } from "../takeover/draft.ts";
import { isBinaryFormat, takeOver, takeOverJson } from "../takeover/takeover.ts";
import { type ImportFile, readImportFile, toImportFile } from "./import-file.ts";
import type { ImportReply, ImportRequest } from "./import-reader.ts";
import { requireExportedAgent } from "./import-rows.ts";

declare const self: Worker;

async function* replies(request: ImportRequest): AsyncGenerator<ImportReply, void> {
  try {
    const { pages, ...file } = await read(request);
    for (const page of pages.messages) yield { page, of: "messages" };
    for (const page of pages.entries) yield { page, of: "entries" };
    yield { file };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, code, message, extras } = error;
    yield { refusal: { status, code, message, extras } };
  }
}

async function read({ bytes, platforms, secretShapes }: ImportRequest): Promise<ImportFile> {
  const toFile = (taken: Takeover) => toImportedFile(taken, bytes, platforms);
  if (isBinaryFormat(bytes)) return toFile(await takeOver(bytes, secretShapes));
  return readImportFile(bytes, platforms, (value) => toFile(takeOverJson(value, secretShapes)));
}

/** The rows of an agent of another program: it is held to the rules of exported agents. */
function toImportedFile(
  { agent, allowLists, ...rest }: Takeover,
  bytes: Uint8Array,
  platforms: readonly string[],
): ImportFile {
  const exported = requireExportedAgent(agent, platforms);
  const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const channels = Object.keys(allowLists).length > 0 ? JSON.stringify(allowLists) : undefined;
  return { ...toImportFile(exported, JSON.stringify(exported.config)), takeover: { ...rest, channels, digest } };
}

self.onmessage = async ({ data }: MessageEvent<ImportRequest>) => {
  for await (const reply of replies(data)) self.postMessage(reply);
};
