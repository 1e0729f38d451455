// Embeds in the binary which late routes each part of a plugin has.
import { join } from "node:path";
import type { BunPlugin } from "bun";

/** Puts a module with the list in the place of the one that has none. Parses it at its first use. */
export const latePlaceEmbedder: BunPlugin = {
  name: "embed-late-places",
  setup(build) {
    build.onLoad({ filter: /[\\/]server[\\/]api[\\/]late-places\.ts$/ }, async () => {
      const text = JSON.stringify(await listLatePlaces());
      return {
        contents: `let places;\nexport const readLatePlaces = () => (places ??= JSON.parse(${text}));`,
        loader: "js",
      };
    });
  },
};

/** Asks a process of its own, since the whole application would stay in the compiler's memory. */
async function listLatePlaces(): Promise<string> {
  const program = join(import.meta.dir, "list-late-places.ts");
  const child = Bun.spawn([process.execPath, program], { stdout: "pipe", stderr: "pipe" });
  const [places, problems, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`The late routes can't be listed: ${problems}`);
  return places;
}
