// Reads the file of a request, from a form or as the body itself, and limits how many are read at once.
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { toStorableText } from "../../src/kernel/util/storable-text.ts";
import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
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
/** After this time a request counts as done although `release` was not called. */
const ABANDONED_AFTER_MS = 6 * MINUTE;

export interface UploadedFile {
  name: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Admits requests with a file. */
export interface UploadGate {
  /** Call it before the body is read. Throws 413 `UPLOAD_TOO_LARGE`, 429 `TOO_MANY_UPLOADS`. May be repeated for a request. */
  acquire(request: Request): void;
  /** Call it when the request was answered. */
  release(request: Request): void;
}

export function createUploadGate(): UploadGate {
  const active = new Map<Request, { address: string; timer: Timer }>();

  function release(request: Request): void {
    clearTimeout(active.get(request)?.timer);
    active.delete(request);
  }

  return {
    release,
    acquire(request) {
      const context = contextOf(request);
      if (Number(request.headers.get("content-length")) > MAX_BODY_BYTES) throw tooLarge();
      context.maxBodyBytes = MAX_BODY_BYTES;
      // A call inside this process was counted on the web surface.
      if (context.socketAddress === "" || active.has(request)) return;
      const { address } = context;
      const own = [...active.values()].filter((other) => other.address === address).length;
      if (active.size >= MAX_CONCURRENT || own >= MAX_CONCURRENT_PER_ADDRESS) throw tooMany();
      active.set(request, { address, timer: setTimeout(release, ABANDONED_AFTER_MS, request).unref() });
    },
  };
}

/** The file of a request whose body was read. `name`: from the query, for a body that is the file itself. */
export async function readUpload(request: Request, name: string | undefined): Promise<UploadedFile> {
  const body = contextOf(request).bodyBytes ?? new Uint8Array();
  const type = request.headers.get("content-type");
  const file = type?.toLowerCase().startsWith("multipart/form-data")
    ? await fileOfForm(body, type)
    : { name: name ?? "", type, bytes: body };
  if (file.bytes.byteLength === 0) throw invalidInput({ path: "file", message: "The file is empty." });
  if (file.bytes.byteLength > MAX_UPLOAD_BYTES) throw tooLarge();
  return { name: cleanName(file.name), type: storedType(file.type, file.bytes), bytes: file.bytes };
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
function cleanName(name: string): string {
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
