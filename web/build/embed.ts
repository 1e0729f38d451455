// Builds embed.js, the chat for other people's pages: one script without imports, because those pages know its address only.

import { join } from "node:path";
import type { BunPlugin } from "bun";

/** The style is put into the script as text; white space and comments would only cost bytes. */
const stylePlugin: BunPlugin = {
  name: "embed-style",
  setup(build) {
    build.onLoad({ filter: /[/\\]embed[/\\][\w-]+\.css$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const short = text
        .replace(/\/\*.*?\*\//gs, "")
        .replace(/\s+/g, " ")
        .replace(/ ?([{};,>]) ?/g, "$1")
        .replace(/: /g, ":");
      return { contents: `export default ${JSON.stringify(short.trim())};`, loader: "js" };
    });
  },
};

/** Returns the script's bytes. */
export async function buildEmbed(): Promise<Uint8Array> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../embed/main.ts")],
    target: "browser",
    format: "iife",
    minify: true,
    env: "disable",
    plugins: [stylePlugin],
  });
  const [script] = outputs;
  if (!script || outputs.length !== 1) throw new Error("embed.js must be one file.");
  return new Uint8Array(await script.arrayBuffer());
}
