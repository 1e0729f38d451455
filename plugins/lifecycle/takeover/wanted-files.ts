// Names the files of a folder that can be taken over: others are not read, packed or unpacked.
import { requireSafePath, UnusableZip, type ZipLimits } from "../../../src/kernel/util/zip/unzip.ts";

const MIB = 1024 * 1024;
export const FOLDER_LIMITS: ZipLimits = { files: 2_000, unpacked: 48 * MIB, path: 200, depth: 8 };
/** Bytes of one file. */
export const MAX_FILE = 4 * MIB;

const WANTED = [
  /(?:^|\/)(?:AGENTS|SOUL|IDENTITY|USER|MEMORY|TOOLS|HEARTBEAT|BOOT|BOOTSTRAP)\.md$/i,
  /(?:^|\/)memory\/[^/]+\.md$/i,
  /(?:^|\/)skills\/[^/]+\/.+$/,
  /^(?:[^/]+\/)?openclaw\.json$/,
  /^(?:[^/]+\/)?cron\/(?:jobs|cron)\.json$/,
  /^card\.json$/,
];
/** Folders of programs and secrets, also within skills. */
const NEVER =
  /(?:^|\/)(?:node_modules|\.git|credentials|sessions|__pycache__)\/|(?:^|\/)\.env[^/]*$|\.(?:pem|key|p12)$/i;

export const isWanted = (path: string): boolean => !NEVER.test(path) && WANTED.some((pattern) => pattern.test(path));

/** Whether files below this folder may be wanted. */
export const isOpenFolder = (path: string): boolean => !NEVER.test(`${path}/`) && hasSafePath(path);

export function hasSafePath(path: string): boolean {
  try {
    requireSafePath(path, FOLDER_LIMITS);
    return true;
  } catch (error) {
    if (error instanceof UnusableZip) return false;
    throw error;
  }
}
