// Reads the file of a request, from a form or as the body itself, and limits how many are read at once.
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { type BodyGate, createBodyGate } from "../../src/kernel/security/rate-limits/body-gate.ts";
import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import { toStorableText } from "../../src/kernel/util/text/storable-text.ts";
import { storedType } from "./file-type.ts";

const MIB = 1024 * 1024;
/** Bytes of one file. */
export const MAX_UPLOAD_BYTES = 20 * MIB;
/** A form has a little more than its file. */
const MAX_BODY_BYTES = MAX_UPLOAD_BYTES + MIB;
const MAX_NAME = 200;
/** Files that are read at once: from all, and from one address, so that one client can't block the others. */
const MAX_CONCURRENT = 8;
const MAX_CONCURRENT_PER_ADDRESS = 4;

export interface UploadedFile {
  name: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Admits requests with a file; throws 413 `UPLOAD_TOO_LARGE`, 429 `TOO_MANY_UPLOADS`. */
export const createUploadGate = (): BodyGate =>
  createBodyGate({
    maxBytes: MAX_BODY_BYTES,
    concurrent: MAX_CONCURRENT,
    perAddress: MAX_CONCURRENT_PER_ADDRESS,
    tooLarge,
    tooMany,
  });

/** The file of a request whose body was read. `name`: from the query, for a body that is the file itself. */
export async function readUpload(request: Request, name: string | undefined): Promise<UploadedFile> {
  const body = contextOf(request).bodyBytes ?? new Uint8Array();
  const type = request.headers.get("content-type");
  const file = type?.toLowerCase().startsWith("multipart/form-data")
    ? await fileOfForm(body, type)
    : { name: name ?? "", type, bytes: body };
  return toUploadedFile(file);
}

/** Checks the size of a file, and cleans its name and type. `type`: as its sender says. */
export function toUploadedFile({
  name,
  type,
  bytes,
}: Omit<UploadedFile, "type"> & { type: string | null }): UploadedFile {
  if (bytes.byteLength === 0) throw invalidInput({ path: "file", message: "The file is empty." });
  if (bytes.byteLength > MAX_UPLOAD_BYTES) throw tooLarge();
  const cleaned = cleanName(name);
  return { name: cleaned, type: storedType(type, bytes, cleaned), bytes };
}

async function fileOfForm(body: Uint8Array<ArrayBuffer>, type: string) {
  const form = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => undefined);
  const file = form?.get("file");
  if (!(file instanceof Blob)) {
    throw invalidInput({ path: "file", message: "Send one file in the form's field `file`, or as the body itself." });
  }
  return {
    name: file instanceof File ? file.name : "",
    type: file.type,
    bytes: new Uint8Array(await file.arrayBuffer()),
  };
}

/** The last part of a path as one line; a text that reorders what follows it can't hide the name's ending. */
export function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const text = oneLine(toStorableText(last.replace(/\p{Cf}/gu, "")).toWellFormed());
  return [...text].slice(0, MAX_NAME).join("") || "file";
}

const tooLarge = () =>
  new AppError(413, "UPLOAD_TOO_LARGE", "This file is larger than 20 MiB. Make it smaller, or send a link to it.", {
    limit: MAX_UPLOAD_BYTES,
  });
const tooMany = () => {
  const text = "Many files are being uploaded right now. Try again in a few seconds.";
  return new AppError(429, "TOO_MANY_UPLOADS", text, {}, { headers: { "retry-after": "3" } });
};
