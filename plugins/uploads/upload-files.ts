// Stores the bytes of uploads as files of the data folder: a folder for each agent, a file for each upload.
//
// Files and not blobs, since blobs of this size would fill the database's cache and every copy of it. With split roles the
// backend alone has the folder; the web surface gets the bytes from it.
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../src/kernel/errors.ts";
import type { SharedFiles } from "../../src/kernel/files.ts";
import { DAY, HOUR } from "../../src/kernel/util/time.ts";
import { agentNotFound, isAgentId } from "../agents/index.ts";

export interface UploadFiles {
  /**
   * The file is on disk as a whole when it resolves. Throws 500 `UPLOAD_NOT_STORED`, with nothing left behind, and 404
   * `AGENT_NOT_FOUND` if the agent is deleted meanwhile.
   */
  write(agentId: string, id: string, bytes: Uint8Array): Promise<void>;
  /** The file; undefined if it is missing. */
  find(agentId: string, id: string): Promise<Bun.BunFile | undefined>;
  remove(agentId: string, ids: readonly string[]): Promise<void>;
  removeAgent(agentId: string): Promise<void>;
  /**
   * Deletes files without a row that are older than an hour, and the folders of missing agents after a week: an operator may
   * restore a database in which the agent exists.
   */
  removeOrphans(rows: {
    idsOf(agentId: string): Promise<ReadonlySet<string>>;
    exists(agentId: string): Promise<boolean>;
  }): Promise<void>;
}

const ORPHAN_FILE_MS = HOUR;
const ORPHAN_FOLDER_MS = 7 * DAY;

export interface UploadFilesDeps {
  dataDir: string;
  /** Below the data folder. */
  folder?: string;
  /** In a cluster: where the other machines find the files. */
  files?: SharedFiles | undefined;
}

export function createUploadFiles({ dataDir, folder = "uploads", files: shared }: UploadFilesDeps): UploadFiles {
  const root = join(dataDir, folder);
  const folderOf = (agentId: string) => join(root, agentId);
  const pathOf = (agentId: string, id: string) => join(folderOf(agentId), id);
  const sharedPathOf = (agentId: string, id: string) => `${folder}/${agentId}/${id}`;

  return {
    async write(agentId, id, bytes) {
      const path = pathOf(agentId, id);
      const unfinished = `${path}.unfinished`;
      let isPlaced = false;
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const file = await open(unfinished, "w", 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(unfinished, path);
        isPlaced = true;
        await shared?.keep(sharedPathOf(agentId, id));
      } catch (cause) {
        await rm(isPlaced ? path : unfinished, { force: true }).catch(() => undefined);
        // The folder was made above, so it went with the agent meanwhile.
        if (codeOf(cause) === "ENOENT") throw agentNotFound();
        throw toUploadError(cause);
      }
    },

    async find(agentId, id) {
      const file = Bun.file(pathOf(agentId, id));
      if (await file.exists()) return file;
      return (await shared?.bring(sharedPathOf(agentId, id))) ? Bun.file(pathOf(agentId, id)) : undefined;
    },

    async remove(agentId, ids) {
      for (const id of ids) await rm(pathOf(agentId, id), { force: true });
      await shared?.forget(ids.map((id) => sharedPathOf(agentId, id)));
    },

    async removeAgent(agentId) {
      // A file that arrives meanwhile makes a folder not empty again.
      await rm(folderOf(agentId), { recursive: true, force: true, maxRetries: 5 });
      if (!shared) return;
      const kept = await shared.list(`${folder}/${agentId}/`);
      await shared.forget(kept.map(({ path }) => path));
    },

    async removeOrphans({ idsOf, exists }) {
      for (const agentId of (await namesIn(root)).filter(isAgentId)) {
        const folder = folderOf(agentId);
        if (!(await exists(agentId))) {
          if (await isOlder(folder, ORPHAN_FOLDER_MS)) await rm(folder, { recursive: true, force: true });
          continue;
        }
        const known = await idsOf(agentId);
        for (const name of await namesIn(folder)) {
          const path = join(folder, name);
          if (!known.has(name) && (await isOlder(path, ORPHAN_FILE_MS))) await rm(path, { force: true });
        }
      }
      if (shared) await forgetOrphans(shared, `${folder}/`, { idsOf, exists });
    },
  };
}

/** As for the files of this machine; what is kept for all has no time but that in its id. */
async function forgetOrphans(
  shared: SharedFiles,
  folder: string,
  { idsOf, exists }: Parameters<UploadFiles["removeOrphans"]>[0],
): Promise<void> {
  const kept = (await shared.list(folder)).map(({ path }) => path);
  const byAgent = Map.groupBy(kept, (path) => path.split("/").at(-2) ?? "");
  for (const [agentId, paths] of byAgent) {
    if (!isAgentId(agentId)) continue;
    const isThere = await exists(agentId);
    const known = isThere ? await idsOf(agentId) : new Set<string>();
    const minAge = isThere ? ORPHAN_FILE_MS : ORPHAN_FOLDER_MS;
    const isOrphan = (id: string) => !known.has(id) && Date.now() - timeOfUuid(id) > minAge;
    await shared.forget(paths.filter((path) => isOrphan(path.split("/").at(-1) ?? "")));
  }
}

/** The milliseconds in a UUID of version 7 (RFC 9562, section 5.7); now for anything else. */
const timeOfUuid = (id: string) =>
  /^[\da-f]{8}-[\da-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 13).replace("-", ""), 16) : Date.now();

const isOlder = async (path: string, ms: number) => Date.now() - (await stat(path)).mtimeMs > ms;

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** 500 `UPLOAD_NOT_STORED` for an error of the file system, without its path; any other error unchanged. */
function toUploadError(cause: unknown): unknown {
  const code = codeOf(cause);
  if (!/^E[A-Z0-9]+$/.test(code)) return cause;
  const text = ["ENOSPC", "EDQUOT", "EFBIG"].includes(code)
    ? "The disk has no room for this file. The operator has to make room on it."
    : "The file could not be stored. The operator finds the reason in the log.";
  return new AppError(500, "UPLOAD_NOT_STORED", text, {}, { cause });
}
