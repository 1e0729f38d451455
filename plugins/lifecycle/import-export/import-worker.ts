// The thread that reads large files of exported agents, because parsing one takes up to a second.
import { AppError } from "../../../src/kernel/errors.ts";
import { readImportFile } from "./import-file.ts";
import type { ImportReply, ImportRequest } from "./import-reader.ts";

declare const self: Worker;

function reply({ bytes, platforms }: ImportRequest): ImportReply {
  try {
    return { file: readImportFile(bytes, platforms) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, code, message, extras } = error;
    return { refusal: { status, code, message, extras } };
  }
}

self.onmessage = ({ data }: MessageEvent<ImportRequest>) => self.postMessage(reply(data));
