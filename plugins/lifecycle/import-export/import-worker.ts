// The thread that reads large files of exported agents, because parsing one takes up to a second.
import { AppError } from "../../../src/kernel/errors.ts";
import { readImportFile } from "./import-file.ts";
import type { ImportReply, ImportRequest } from "./import-reader.ts";

declare const self: Worker;

function* replies({ bytes, platforms }: ImportRequest): Generator<ImportReply, void> {
  try {
    const { pages, ...file } = readImportFile(bytes, platforms);
    for (const page of pages.messages) yield { page, of: "messages" };
    for (const page of pages.entries) yield { page, of: "entries" };
    yield { file };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, code, message, extras } = error;
    yield { refusal: { status, code, message, extras } };
  }
}

self.onmessage = ({ data }: MessageEvent<ImportRequest>) => {
  for (const reply of replies(data)) self.postMessage(reply);
};
