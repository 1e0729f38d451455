// Puts small modules that many pages share into the first script. The bundler makes a file for each set of pages that share
// something, often of a few hundred bytes; each page then asked for a dozen of them.

import { basename, resolve } from "node:path";
import type { BuildConfig, BunPlugin } from "bun";

/** A file with a shared module is common if at least this many others import it. */
const MIN_IMPORTERS = 3;
/** Bytes before compression: larger files are worth a request of their own. */
const MAX_BYTES = 4_000;

/** Returns a plugin that adds the common modules to the script `entry`. Builds once, to see which they are. */
export async function commonPlugin(entry: string, config: BuildConfig): Promise<BunPlugin> {
  const { metafile } = await Bun.build({ ...config, metafile: true });
  if (!metafile) throw new Error("The bundler returned no list of its files.");
  const outputs = Object.entries(metafile.outputs);
  const importers = new Map<string, number>();
  for (const [, { imports }] of outputs)
    for (const { kind, path } of imports)
      if (kind === "import-statement") importers.set(basename(path), (importers.get(basename(path)) ?? 0) + 1);
  const modules = outputs
    .filter(([file, { bytes, entryPoint }]) => file.endsWith(".js") && !entryPoint && bytes <= MAX_BYTES)
    .filter(([file]) => (importers.get(basename(file)) ?? 0) >= MIN_IMPORTERS)
    .flatMap(([, { inputs }]) => Object.keys(inputs));
  // The bundler keeps what an entry exports in the entry's own file.
  const lines = modules.map((path, index) => `export * as common${index} from ${JSON.stringify(resolve(path))};`);
  return {
    name: "common",
    setup(build) {
      build.onLoad({ filter: /[/\\]main\.tsx$/ }, async ({ path }) => {
        const contents = await Bun.file(path).text();
        return { contents: path === entry ? [contents, ...lines].join("\n") : contents, loader: "tsx" };
      });
    },
  };
}
