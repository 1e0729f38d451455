// Reads folders of skills on a thread of their own, which ends with the folder, because unpacking takes up to a second.

import { AppError } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { workerPath } from "../../../src/kernel/worker-path.ts";
import type { Problem } from "./problems.ts";
import type { FolderFile, SkillFolder } from "./skill-folder.ts";

/** Threads at once. */
const MAX_THREADS = 2;
/** Folders within the limits take less than a second. */
const MAX_MS = 20 * SECOND;

/** Each file by itself, to keep the messages between threads short, then the rest; or what is wrong with the folder. */
export type FolderReply =
  | { file: FolderFile }
  | { folder: Omit<SkillFolder, "files"> }
  | { problems: readonly Problem[] };

const WORKER = workerPath("plugins/skill-folders/reading/folder-worker.ts");

export type FolderReader = (bytes: Uint8Array<ArrayBuffer>) => Promise<SkillFolder>;

/** The function that reads a zip or a SKILL.md. The bytes can't be used afterwards. Throws 400 `INVALID_SKILL`. */
export function createFolderReader(): FolderReader {
  const threads = createSemaphore(MAX_THREADS);
  return (bytes) => threads.run(() => readOnThread(bytes));
}

async function readOnThread(bytes: Uint8Array<ArrayBuffer>): Promise<SkillFolder> {
  const worker = new Worker(WORKER);
  const files: FolderFile[] = [];
  let timer: Timer | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error("A skill's folder took too long to read.")), MAX_MS);
      worker.onmessage = ({ data: reply }: MessageEvent<FolderReply>) => {
        if ("file" in reply) files.push(reply.file);
        else if ("folder" in reply) resolve({ ...reply.folder, files });
        else reject(invalidSkill(reply.problems));
      };
      worker.onerror = ({ message }) =>
        reject(new Error(`A skill's folder could not be read on its thread: ${message}`));
      worker.postMessage(bytes, [bytes.buffer]);
    });
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

function invalidSkill(problems: readonly Problem[]): AppError {
  const [first] = problems;
  const where = first?.path ? `${first.path}: ` : "";
  return new AppError(400, "INVALID_SKILL", `${where}${first?.message ?? "This is no skill."}`, { issues: problems });
}
