// Reads the skills that the operator shares with all accounts (SKILLS_DIR), and reads them again when they change.
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { isRunnable } from "../agent/folder-skill.ts";
import { LIMITS, type Problem, UnusableFolder } from "../reading/problems.ts";
import { readSkillFile, type SkillFields } from "../reading/skill-file.ts";
import { SKILL_FILE, textOf } from "../reading/text-file.ts";
import type { FileEntry } from "./skill-rows.ts";

export interface SharedFolder extends SkillFields {
  warnings: Problem[];
  hasScripts: boolean;
  body(): Promise<string>;
  files(): Promise<FileEntry[]>;
  text(path: string): Promise<string | null | undefined>;
  texts(paths: readonly string[]): Promise<{ path: string; text: string }[]>;
}

const MAX_FOLDERS = 200;
const SKIPPED = new Set(["node_modules"]);

export interface SharedFolders {
  /** By name. The same objects while nothing has changed. */
  list(): Promise<readonly SharedFolder[]>;
  /** Reads the folders again if a SKILL.md has changed; whether that is so. */
  refresh(): Promise<boolean>;
}

/** @param dir undefined: there are none */
export function createSharedFolders({ dir, log }: { dir: string | undefined; log: Log }): SharedFolders {
  let known: { signature: string; folders: readonly SharedFolder[] } | undefined;
  let reading: Promise<boolean> | undefined;

  async function read(): Promise<boolean> {
    if (dir === undefined) return false;
    const { found, trouble } = await findFolders(dir);
    const signature = JSON.stringify([trouble, found]);
    if (known?.signature === signature) return false;
    if (trouble) log.warn(trouble, { folder: dir });
    const read = await Promise.all(found.map(({ name }) => readFolder(join(dir, name), name, log)));
    const byName = new Map<string, SharedFolder>();
    for (const folder of read) {
      if (!folder) continue;
      if (byName.has(folder.name)) log.warn("a shared skill is left out: its name is taken", { skill: folder.name });
      else byName.set(folder.name, folder);
    }
    const isFirst = known === undefined;
    known = { signature, folders: [...byName.values()] };
    return !isFirst;
  }

  const refresh = (): Promise<boolean> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  return {
    refresh,
    async list() {
      if (!known && dir !== undefined) await refresh();
      return known?.folders ?? [];
    },
  };
}

/** Folders with a SKILL.md and when it changed, and what the operator should know. */
async function findFolders(dir: string) {
  let entries: Dirent[];
  try {
    entries = await readdir(dir, { withFileTypes: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { found: [], trouble: `the folder of shared skills can't be read: ${reason}` };
  }
  const names = entries.flatMap((entry) => (isFolder(entry) ? [entry.name] : [])).sort();
  const found = await Promise.all(
    names.slice(0, MAX_FOLDERS).map(async (name) => {
      const file = await stat(join(dir, name, SKILL_FILE)).catch(() => undefined);
      return file?.isFile() ? [{ name, changed: `${file.mtimeMs} ${file.size}` }] : [];
    }),
  );
  const trouble = names.length > MAX_FOLDERS ? `of the shared skills only the first ${MAX_FOLDERS} are used` : "";
  return { found: found.flat(), trouble };
}

// A link to a folder is the operator's own choice here; links within a skill are not followed.
const isFolder = (entry: Dirent) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith(".");

async function readFolder(path: string, folder: string, log: Log): Promise<SharedFolder | undefined> {
  const read = async () => readSkillFile((await readText(join(path, SKILL_FILE))) ?? "", folder);
  try {
    const { body: _, ...fields } = await read();
    return {
      ...fields,
      hasScripts: (await listFiles(path)).some(isRunnable),
      body: async () => (await read()).body,
      files: () => listFiles(path),
      async text(file) {
        const isListed = (await listFiles(path)).some((listed) => listed.path === file);
        return isListed ? readText(join(path, file)) : undefined;
      },
      async texts(paths) {
        const listed = (await listFiles(path)).filter((file) => paths.includes(file.path));
        const read = await Promise.all(
          listed.map(async (file) => [file.path, await readText(join(path, file.path))] as const),
        );
        return read.flatMap(([file, text]) => (text === null ? [] : [{ path: file, text }]));
      },
    };
  } catch (error) {
    const problems = error instanceof UnusableFolder ? error.problems.map(({ message }) => message) : undefined;
    log.warn("a shared skill can't be used", problems ? { folder: path, problems } : { folder: path, error });
    return undefined;
  }
}

async function readText(path: string): Promise<string | null> {
  const file = Bun.file(path);
  if (file.size > LIMITS.text) return null;
  return textOf({ path, bytes: await file.bytes() });
}

/** Files of the folder, without links and hidden ones, up to the limits of an installed skill. */
async function listFiles(root: string): Promise<FileEntry[]> {
  const files: FileEntry[] = [];
  const visit = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      if (files.length >= LIMITS.files || entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && depth < LIMITS.depth) await visit(path, depth + 1);
      else if (entry.isFile()) {
        const { size } = Bun.file(join(root, path));
        files.push({ path, size, isText: size <= LIMITS.text && (await looksLikeText(join(root, path))) });
      }
    }
  };
  await visit("", 0);
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** By the beginning alone, since a list should not read every file to its end. */
async function looksLikeText(path: string): Promise<boolean> {
  return !(await Bun.file(path).slice(0, 4096).bytes()).includes(0);
}
