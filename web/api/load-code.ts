// Loads the code of pages and dialogs when they are opened. The build calls `berthImport` in place of `import()`.
//
// Chromium keeps the failure of an `import()` as long as the page is open, also that of a file which the imported one needs. So
// all files that a module needs are fetched first, into the browser's cache: a failed fetch can be repeated. Only the code of
// the first page is imported at once, because each file is then asked for once: if that fails, a reload loses nothing.

import { t } from "../viewer/language.ts";
import { look, noteAnswer } from "./connection.ts";
import { IncompleteError, OutdatedError, UnreachableError } from "./errors.ts";
import { noteFileCame } from "./update.ts";

declare global {
  var berthImport: (file: string) => Promise<unknown>;
}

/** The data that the build writes into the page: file names, and for each that is imported the places of those it needs. */
interface Imports {
  files: readonly string[];
  needs: Readonly<Record<string, readonly number[]>>;
}

let imports: Imports | undefined;
const fetched = new Map<string, Promise<void>>();

function filesOf(file: string): string[] {
  imports ??= JSON.parse(document.getElementById("imports")?.textContent ?? "") as Imports;
  const { files, needs } = imports;
  return [file, ...(needs[file] ?? []).map((place) => files[place] ?? "")];
}

/** Throws UnreachableError without an answer, OutdatedError if the server does not have the file any more. */
async function fetchFile(file: string): Promise<void> {
  let status: number;
  try {
    const response = await fetch(file);
    // The cache holds a file when all of it has come.
    await response.blob();
    ({ status } = response);
  } catch {
    status = 0;
  }
  if (status === 200) return noteAnswer();
  await look();
  if (status === 404) throw new OutdatedError(t("Berth was updated. Load this page again to go on."));
  throw new UnreachableError(t("Berth can't be reached. Check your connection; nothing that was sent is lost."));
}

function fetchOnce(file: string): Promise<void> {
  let arrival = fetched.get(file);
  if (!arrival) {
    arrival = fetchFile(file);
    fetched.set(file, arrival);
    arrival.catch(() => fetched.delete(file));
  }
  return arrival;
}

/** Until somebody does something on the page. */
let isUntouched = true;
const touched = () => {
  isUntouched = false;
};
for (const event of ["pointerdown", "keydown", "pushState"])
  addEventListener(event, touched, { capture: true, once: true });

/** What browsers say of a module whose files did not come. A fault in its code has other words. */
const NOT_FETCHED = /dynamically imported module|Importing a module script failed/;

/** Asks for all files at the same time: an import alone finds the next ones only in those that came. */
function preload(file: string): void {
  for (const href of filesOf(file)) {
    if (fetched.has(href)) continue;
    fetched.set(href, Promise.resolve());
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  }
}

globalThis.berthImport = async (file) => {
  if (isUntouched) {
    preload(file);
    try {
      const module: unknown = await import(file);
      noteFileCame(file);
      return module;
    } catch {
      for (const one of filesOf(file)) fetched.delete(one);
    }
  }
  await Promise.all(filesOf(file).map(fetchOnce));
  try {
    const module: unknown = await import(file);
    noteFileCame(file);
    return module;
  } catch (error) {
    if (!NOT_FETCHED.test(String(error))) throw error;
    throw new IncompleteError(t("A part of this page did not come. Load the page again to go on."), file);
  }
};
