// Recognizes files of other programs by their content, and takes an agent over from them.
//
// Takes up to a second for a large file: it runs on the thread of imports.
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import { decodeBody, parseJson } from "../../../src/kernel/http/body/json-body.ts";
import { UnusableZip, unzip, type ZipFault } from "../../../src/kernel/util/zip/unzip.ts";
import { isCharacterCard, takeOverCard } from "./character-card.ts";
import type { Takeover } from "./draft.ts";
import { isElizaCharacter, takeOverEliza } from "./eliza-character.ts";
import { UNKNOWN_FORMAT, withJsonAdvice } from "./file-errors.ts";
import { takeOverWorkspace, workspacesOf } from "./openclaw/workspace.ts";
import { isPng, pngTexts } from "./png-chunks.ts";
import { FOLDER_LIMITS, isWanted, MAX_FILE } from "./wanted-files.ts";

const ZIP_FAULTS: Readonly<Record<ZipFault, string>> = {
  BROKEN_ZIP: "This zip can't be read: it is damaged, encrypted, or packed in an unusual way. Pack the folder again.",
  TOO_MANY_FILES: `A folder has at most ${FOLDER_LIMITS.files} files. Pack only the workspace.`,
  TOO_LARGE: "Unpacked, a folder has at most 48 MiB. Pack only the workspace.",
  DUPLICATE_PATH: "Two files in the zip have the same path.",
  UNSAFE_PATH: "A path in the zip leads out of the folder, or has characters that paths can't have.",
  PATH_TOO_DEEP: "Folders in the zip are nested too deep.",
};

/** Whether the bytes are of a format that is recognized by its beginning: PNG or zip. */
export const isBinaryFormat = (bytes: Uint8Array) => isPng(bytes) || isZip(bytes);

/**
 * Takes over an agent of another program. Throws 400 `UNKNOWN_FORMAT` and `UNREADABLE_FILE`.
 * @param secretShapes patterns of secrets, which are blacked out
 */
export async function takeOver(bytes: Uint8Array, secretShapes: readonly RegExp[]): Promise<Takeover> {
  if (isZip(bytes)) return takeOverZip(bytes, secretShapes);
  if (isPng(bytes)) return takeOverCard(cardInPng(bytes), secretShapes);
  return takeOverJson(
    withJsonAdvice(() => parseJson(decodeBody(bytes))),
    secretShapes,
  );
}

/** @param value parsed JSON that is no exported agent */
export function takeOverJson(value: unknown, secretShapes: readonly RegExp[]): Takeover {
  if (isCharacterCard(value)) return takeOverCard(value, secretShapes);
  if (isElizaCharacter(value)) return takeOverEliza(value, secretShapes);
  throw invalidInput({ path: "format", message: UNKNOWN_FORMAT }, "UNKNOWN_FORMAT");
}

const isZip = (bytes: Uint8Array) => bytes[0] === 0x50 && bytes[1] === 0x4b;

async function takeOverZip(bytes: Uint8Array, secretShapes: readonly RegExp[]): Promise<Takeover> {
  const files = filesIn(bytes).filter((file) => file.bytes.length <= MAX_FILE);
  const paths = files.map(({ path }) => path);
  const card = files.find(({ path }) => path === "card.json");
  if (card) return takeOverCard(parseJson(decodeBody(card.bytes)), secretShapes);
  if (workspacesOf(paths).length > 0) return takeOverWorkspace(files, secretShapes);
  throw invalidInput({ path: "format", message: UNKNOWN_FORMAT }, "UNKNOWN_FORMAT");
}

function filesIn(bytes: Uint8Array) {
  try {
    return unzip(bytes, FOLDER_LIMITS, isWanted);
  } catch (error) {
    if (!(error instanceof UnusableZip)) throw error;
    throw unreadable(ZIP_FAULTS[error.fault], error.path);
  }
}

/** The card in a picture: `ccv3` counts before `chara`, which may be a copy for older programs. */
function cardInPng(bytes: Uint8Array): unknown {
  const texts = pngTexts(bytes, ["ccv3", "chara"]);
  if (!texts) throw unreadable("This picture is damaged.");
  const encoded = texts.get("ccv3") ?? texts.get("chara");
  if (encoded === undefined) throw unreadable("There is no character in this picture.");
  const card = parseJson(decodeBody(Buffer.from(encoded, "base64")));
  if (!isCharacterCard(card)) throw unreadable("There is no character in this picture.");
  return card;
}

function unreadable(message: string, path = ""): AppError {
  return new AppError(400, "UNREADABLE_FILE", message, path === "" ? {} : { issues: [{ path, message }] });
}
