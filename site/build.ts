// Builds the documentation into dist/site: one file with all of the site's files, compressed, and a module that tells where
// each of them lies in it.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { packSite } from "./pack.ts";
import { listedPages, nameOf, root } from "./pages.ts";

const output = join(root, "dist/site");

export interface BuiltSite {
  files: number;
  bytes: number;
  /** Nothing has changed since it was built. */
  isKept: boolean;
}

/** Builds the site unless its pages, its code and VitePress are those of the last build. */
export async function buildSite(): Promise<BuiltSite> {
  const hash = await hashOfSources();
  const stamp = Bun.file(join(output, "built.json"));
  if (await stamp.exists()) {
    const { sources, files, bytes } = await stamp.json();
    if (sources === hash) return { files, bytes, isKept: true };
  }
  await rm(output, { recursive: true, force: true });
  await stagePages();
  await runVitePress();
  const built = await packSite(join(output, "html"), output);
  await Bun.write(stamp, JSON.stringify({ sources: hash, ...built }));
  return { ...built, isKept: false };
}

/** A hash of the sources' names and contents. */
async function hashOfSources(): Promise<string> {
  const pictures = new Bun.Glob("docs/**/*.{svg,png,json,yml}").scanSync(root);
  const code = new Bun.Glob("site/**/*.{ts,css}").scanSync({ cwd: root, dot: true });
  const paths = [...listedPages(), ...pictures, ...code].filter((path) => !path.endsWith(".test.ts")).sort();
  const hash = createHash("sha256");
  for (const path of [...paths, "node_modules/vitepress/package.json"]) {
    hash.update(`\0${path}\0`).update(await readFile(join(root, path)));
  }
  return hash.digest("hex");
}

/** Copies the pages and pictures to where VitePress reads them, by their names on the site. */
async function stagePages(): Promise<void> {
  const source = join(output, "source");
  for (const path of listedPages()) {
    const name = nameOf(path);
    if (name === undefined) throw new Error(`${path} has no name on the site; see NAMES in site/pages.ts.`);
    await Bun.write(join(source, `${name}.md`), withoutComments(await Bun.file(join(root, path)).text()));
  }
  await mkdir(source, { recursive: true });
  for (const path of new Bun.Glob("**/*.{svg,png}").scanSync(join(root, "docs")))
    await cp(join(root, "docs", path), join(source, path));
  // Files that readers take away as they are.
  await cp(join(root, "docs/monitoring"), join(source, "public/monitoring"), { recursive: true });
  await cp(join(root, "web/icon.svg"), join(source, "public/icon.svg"));
}

/** Comments on lines of their own mark generated parts; pages are read without HTML, which would show them. */
const withoutComments = (markdown: string) => markdown.replace(/^<!--.*?-->\n/gms, "");

/** In a process of its own, because it leaves much memory behind. */
function runVitePress(): Promise<void> {
  const program = join(root, "node_modules/vitepress/bin/vitepress.js");
  const child = spawn(process.execPath, [program, "build", join(root, "site")], {
    cwd: root,
    stdio: "pipe",
    // Bun's test runner sets another one, with which VitePress makes no index for the search.
    env: { ...process.env, NODE_ENV: "production" },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      text += String(data);
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`The documentation can't be built.\n${text}`)),
    );
  });
}

if (import.meta.main) {
  const { files, bytes, isKept } = await buildSite();
  console.log(`dist/site: ${files} files, ${Math.round(bytes / 1000)} kB compressed${isKept ? ", as before" : ""}`);
}
