// Finds the code of a thread, which is a file of its own: inside the binary, or among the sources.
import { join } from "node:path";

const INSIDE_BINARY = "/$bunfs/root/";
const ROOT = join(import.meta.dir, "../..");

/**
 * The path for `new Worker`. `source` is the thread's file from the project's root; the build takes it in as an entry point
 * (`src/server/build.ts`).
 *
 * @example new Worker(workerPath("plugins/documents/document-worker.ts"))
 */
export const workerPath = (source: `${string}.ts`): string =>
  import.meta.path.startsWith(INSIDE_BINARY) ? `${INSIDE_BINARY}${source.slice(0, -3)}.js` : join(ROOT, source);
