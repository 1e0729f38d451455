// Finds the texts of the console in its source, and splits a language's table by page, so that a page loads only its own.

import { join } from "node:path";
import { Glob } from "bun";

const web = join(import.meta.dir, "..");

/** Calls that begin with texts: `t("…")`, `tn("one", "other", count)`, `rich("…")`, `text("…")`. */
const CALL = /(?<![\w.$])(t|rich|text|tn)\(\s*("(?:[^"\\\n]|\\.)*")(?:,\s*("(?:[^"\\\n]|\\.)*"))?/g;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** The texts of a source file, in English, as they are written there. */
export function textsIn(source: string): string[] {
  return [...source.replace(COMMENT, "").matchAll(CALL)].flatMap(([, name, first = '""', second]) =>
    name === "tn" && second !== undefined ? [parse(first), parse(second)] : [parse(first)],
  );
}

const parse = (literal: string): string => JSON.parse(literal) as string;

/** The part of the console that a file belongs to: the folder of a page, or `shell` for what all pages share. */
export const areaOf = (path: string): string => /^pages\/([^/]+)/.exec(path)?.[1] ?? "shell";

/** All texts by area. Reads the whole source of the console. */
export async function textsByArea(): Promise<Map<string, Set<string>>> {
  const areas = new Map<string, Set<string>>();
  for await (const path of new Glob("{viewer,api,parts,session,data,app,pages}/**/*.{ts,tsx}").scan(web)) {
    if (path.includes(".test.")) continue;
    const area = areaOf(path.replaceAll("\\", "/"));
    const texts = areas.get(area) ?? new Set();
    for (const one of textsIn(await Bun.file(join(web, path)).text())) texts.add(one);
    areas.set(area, texts);
  }
  return areas;
}
