// Builds packages/client/dist: one minified module, and its declarations, which stand alone. Reports the size.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../../package.json";
import client from "../package.json";

const folder = join(import.meta.dir, "..");
const dist = join(folder, "dist");
const MAX_BYTES = 10_000;

/** Builds the package; resolves with the bytes of the module, minified and compressed. Throws if it is larger than promised. */
export async function buildClient(): Promise<{ minified: number; gzip: number }> {
  if (client.version !== version)
    throw new Error(`packages/client/package.json has the version ${client.version}, not ${version}.`);
  rmSync(dist, { recursive: true, force: true });
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, "src/index.ts")],
    outdir: dist,
    target: "browser",
    format: "esm",
    minify: true,
  });
  const [module] = outputs;
  if (!module) throw new Error("The build made no module.");
  const tsc = join(folder, "../../node_modules/.bin/tsc");
  const flags = [
    "--noEmit",
    "false",
    "--declaration",
    "--emitDeclarationOnly",
    "--rewriteRelativeImportExtensions",
    "--outDir",
    dist,
  ];
  const child = Bun.spawn([tsc, "-p", folder, ...flags], { stdout: "inherit", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("The declarations could not be made.");
  // Declarations keep the names of the sources.
  for (const name of readdirSync(dist).filter((one) => one.endsWith(".d.ts"))) {
    const path = join(dist, name);
    writeFileSync(path, readFileSync(path, "utf8").replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'));
  }
  const bytes = readFileSync(module.path);
  const sizes = { minified: bytes.byteLength, gzip: Bun.gzipSync(bytes).byteLength };
  if (sizes.minified > MAX_BYTES) throw new Error(`The module has ${sizes.minified} bytes, more than ${MAX_BYTES}.`);
  return sizes;
}

if (import.meta.main) {
  const { minified, gzip } = await buildClient();
  console.log(`packages/client/dist: ${minified} bytes minified, ${gzip} bytes compressed`);
}
