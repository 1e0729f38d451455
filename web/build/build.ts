// Builds the console and embed.js into dist/web: each file compressed, and a module that embeds them in the binary.

import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { BuildConfig, BunPlugin } from "bun";
import tailwind from "bun-plugin-tailwind";
import { TRANSLATED } from "../languages/languages.ts";
import { readTranslation } from "../languages/read-translation.ts";
import { commonPlugin } from "./common.ts";
import { buildEmbed } from "./embed.ts";
import { replaceImports } from "./imports.ts";
import { preactPlugin } from "./preact.ts";
import { textsByArea } from "./texts.ts";

const web = join(import.meta.dir, "..");
export const outputFolder = join(web, "../dist/web");

/** The area with the texts of the API's errors, by their codes. */
const ERRORS = "errors";

/**
 * Provides `berth:texts`: for each language and area a function that loads the area's translations, which are a chunk of
 * their own.
 */
const languagePlugin: BunPlugin = {
  name: "berth-texts",
  setup(build) {
    const namespace = "berth-texts";
    build.onResolve({ filter: /^berth:texts/ }, ({ path }) => ({ path, namespace }));
    build.onLoad({ filter: /.*/, namespace }, async ({ path }) => {
      const [, code, area] = path.split("/");
      const language = TRANSLATED.find((one) => one === code);
      const areas = await textsByArea();
      if (language === undefined || area === undefined) {
        const loaders = TRANSLATED.map((code) => {
          const rows = [...areas.keys(), ERRORS].map(
            (one) => `${JSON.stringify(one)}: () => import("berth:texts/${code}/${one}").then((m) => m.default)`,
          );
          return `${code}: { ${rows.join(", ")} }`;
        });
        return { contents: `export const loaders = { ${loaders.join(", ")} };`, loader: "js" };
      }
      const tables = await readTranslation(language);
      const own = [...(areas.get(area) ?? [])].map((english) => [english, tables.texts[english]]);
      const texts = area === ERRORS ? tables.errors : Object.fromEntries(own);
      const server = { ...tables.server[area], ...(area === "shell" && tables.notes) };
      const calls = area === "shell" ? tables.calls : {};
      const contents = JSON.stringify({ texts, server, calls });
      return { contents: `export default ${contents};`, loader: "js" };
    });
  },
};

const brotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

interface BuiltFile {
  name: string;
  type: string;
  bytes: number;
  brotliBytes: number;
}

/** Builds everything. `fast` compresses less, for work on the console. */
export async function buildConsole({ fast = false } = {}): Promise<BuiltFile[]> {
  await rm(outputFolder, { recursive: true, force: true });
  await mkdir(outputFolder, { recursive: true });
  const config: BuildConfig = {
    entrypoints: [join(web, "index.html")],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    publicPath: "/assets/",
    define: { "process.env.NODE_ENV": '"production"' },
    env: "disable",
    // `berthImport` asks for all files of a module at once.
    modulePreload: false,
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    plugins: [tailwind, languagePlugin, preactPlugin],
  };
  const common = await commonPlugin(join(web, "main.tsx"), config);
  const { outputs } = await Bun.build({ ...config, plugins: [...(config.plugins ?? []), common] });
  const files = await Promise.all(
    [...outputs, ...(await buildReference())].map(async (output) => ({
      name: basename(output.path),
      type: output.type,
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  );
  replaceImports(files);
  async function write(name: string, type: string, bytes: Uint8Array): Promise<BuiltFile> {
    const params = { [constants.BROTLI_PARAM_QUALITY]: fast ? 4 : 11 };
    const [br, gz] = await Promise.all([brotli(bytes, { params }), compressGzip(bytes, { level: fast ? 1 : 9 })]);
    await Bun.write(join(outputFolder, `${name}.br`), br);
    await Bun.write(join(outputFolder, `${name}.gz`), gz);
    return { name, type, bytes: bytes.length, brotliBytes: br.length };
  }
  const built = await Promise.all(files.map(({ name, type, bytes }) => write(name, type, bytes)));
  const embed = await buildEmbed();
  const embedFile = await write("embed.js", "text/javascript", embed);
  const module = assetsModule(built) + embedModule(new Bun.CryptoHasher("sha256").update(embed).digest("base64url"));
  await Bun.write(join(outputFolder, "assets.js"), module);
  return [...built, embedFile];
}

/** Exports the forms of embed.js, which has an address of its own, and the hash of its content. */
const embedModule = (hash: string): string =>
  [
    'import embedBr from "./embed.js.br" with { type: "file" };',
    'import embedGz from "./embed.js.gz" with { type: "file" };',
    `export const embed = { hash: ${JSON.stringify(hash.slice(0, 22))}, br: embedBr, gz: embedGz };`,
    "",
  ].join("\n");

/** Builds the page of the API at /swagger: one script and one style sheet, without anything of the console. */
async function buildReference() {
  const { outputs } = await Bun.build({
    entrypoints: [join(web, "reference/main.tsx")],
    target: "browser",
    format: "esm",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    env: "disable",
    naming: { entry: "reference-[hash].[ext]", asset: "reference-[hash].[ext]" },
    plugins: [preactPlugin],
  });
  return outputs;
}

/** A module that names each file's two compressed forms as paths that work inside the binary. */
function assetsModule(files: readonly BuiltFile[]): string {
  const imports = files.flatMap(({ name }, index) => [
    `import br${index} from "./${name}.br" with { type: "file" };`,
    `import gz${index} from "./${name}.gz" with { type: "file" };`,
  ]);
  const rows = files.map(
    ({ name, type }, index) =>
      `  ${JSON.stringify(name)}: { type: ${JSON.stringify(type)}, br: br${index}, gz: gz${index} },`,
  );
  const type = "/** @type {Readonly<Record<string, { type: string; br: string; gz: string }>>} */";
  return [...imports, type, "export const assets = {", ...rows, "};", ""].join("\n");
}

if (import.meta.main) {
  const files = await buildConsole({ fast: process.argv.includes("--fast") });
  const total = files.reduce((sum, { brotliBytes }) => sum + brotliBytes, 0);
  console.log(`dist/web: ${files.length} files, ${Math.round(total / 1000)} kB compressed`);
}
