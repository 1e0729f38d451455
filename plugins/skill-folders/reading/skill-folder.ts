// Makes a skill of the files of a zip, or of a single SKILL.md.
import { type Problem, problem, UnusableFolder } from "./problems.ts";
import { readSkillFile, type SkillFields } from "./skill-file.ts";
import { SKILL_FILE, textOf } from "./text-file.ts";
import { type UnpackedFile, unzip } from "./unzip.ts";

export interface FolderFile {
  /** Within the skill's folder. */
  path: string;
  /** Bytes. */
  size: number;
  /** Null for a file that is no text. */
  text: string | null;
}

export interface SkillFolder {
  fields: SkillFields;
  body: string;
  warnings: Problem[];
  /** With SKILL.md, by path. */
  files: FolderFile[];
  /** Bytes of all files. */
  size: number;
  /** SHA-256 of all paths and contents. */
  digest: string;
}

/**
 * Takes up to a second for a large zip: call it on a thread (`folder-reader.ts`).
 * @throws UnusableFolder
 */
export function readSkillFolder(bytes: Uint8Array): SkillFolder {
  const { folder, files: unpacked, warnings } = findFolder(bytes);
  const files = unpacked
    .map((file) => ({ ...file, text: textOf(file) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const skillFile = files.find(({ path }) => path === SKILL_FILE);
  if (!skillFile) throw new UnusableFolder([problem("NO_SKILL_FILE")]);
  if (skillFile.text === null) throw new UnusableFolder([problem("NOT_TEXT", SKILL_FILE)]);
  const { body, warnings: fieldWarnings, ...fields } = readSkillFile(skillFile.text, folder);
  const hash = new Bun.CryptoHasher("sha256");
  for (const { path, bytes } of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  const notKept = files.some(({ text }) => text === null) ? [problem("NOT_KEPT")] : [];
  return {
    fields,
    body,
    warnings: [...fieldWarnings, ...warnings, ...notKept],
    files: files.map(({ path, bytes, text }) => ({ path, size: bytes.length, text })),
    size: files.reduce((sum, { bytes }) => sum + bytes.length, 0),
    digest: hash.digest("hex"),
  };
}

interface FoundFolder {
  /** The folder's name; undefined if it has none. */
  folder: string | undefined;
  files: UnpackedFile[];
  warnings: Problem[];
}

/** The folder of the only SKILL.md, at whatever depth the zip has it. */
function findFolder(bytes: Uint8Array): FoundFolder {
  if (!startsWith(bytes, [0x50, 0x4b])) {
    const looksLikeSkill = startsWith(bytes, [0x2d, 0x2d, 0x2d]) || startsWith(bytes, [0xef, 0xbb, 0xbf, 0x2d]);
    if (!looksLikeSkill) throw new UnusableFolder([problem("NOT_A_SKILL")]);
    return { folder: undefined, files: [{ path: SKILL_FILE, bytes }], warnings: [] };
  }
  const { files: all, links } = unzip(bytes);
  const found = all.filter(({ path }) => path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`));
  const [only] = found;
  if (!only) throw new UnusableFolder([problem("NO_SKILL_FILE")]);
  if (found.length > 1) {
    throw new UnusableFolder(found.slice(0, 10).map(({ path }) => problem("SEVERAL_SKILL_FILES", path)));
  }
  const root = only.path.slice(0, -SKILL_FILE.length);
  const files = all
    .filter(({ path }) => path.startsWith(root))
    .map((file) => ({ ...file, path: file.path.slice(root.length) }));
  return {
    folder: root.split("/").at(-2),
    files,
    warnings: [
      ...(files.length < all.length ? [problem("FILES_OUTSIDE")] : []),
      ...links.filter((path) => path.startsWith(root)).map((path) => problem("LINK", path.slice(root.length))),
    ],
  };
}

const startsWith = (bytes: Uint8Array, start: readonly number[]) => start.every((byte, index) => bytes[index] === byte);
