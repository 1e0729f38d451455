// Small modules that many pages share come with the first script.
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { BuildConfig } from "bun";
import { temporaryDir } from "../../tests/support/process.ts";
import { commonPlugin } from "./common.ts";

const folder = temporaryDir();
afterAll(() => folder.remove());

const PAGES = ["a", "b", "c", "d", "e"];
const LARGE = `export const large = () => ${JSON.stringify("x".repeat(5_000))};`;

test("a small module of many pages is in the first script; a large one, and one of two pages, are files of their own", async () => {
  const entry = join(folder.path, "main.tsx");
  const page = (name: string) =>
    `import { small } from "./small.ts";
    ${name < "e" ? 'import { large } from "./large.ts";' : "const large = () => 0;"}
    ${name < "c" ? 'import { rare } from "./rare.ts";' : "const rare = () => 0;"}
    export default () => [${JSON.stringify(name)}, small(), large(), rare()];`;
  await Bun.write(
    entry,
    PAGES.map((name) => `import("./${name}.ts").then((m) => console.log(m.default()));`).join("\n"),
  );
  await Bun.write(join(folder.path, "small.ts"), 'export const small = () => "a small one";');
  await Bun.write(join(folder.path, "rare.ts"), 'export const rare = () => "a rare one";');
  await Bun.write(join(folder.path, "large.ts"), LARGE);
  for (const name of PAGES) await Bun.write(join(folder.path, `${name}.ts`), page(name));

  await Bun.write(join(folder.path, "index.html"), '<script type="module" src="./main.tsx"></script>');
  const config: BuildConfig = {
    entrypoints: [join(folder.path, "index.html")],
    target: "browser",
    splitting: true,
    modulePreload: false,
  };
  const built = await Bun.build({ ...config, plugins: [await commonPlugin(entry, config)] });
  const scripts = await Promise.all(built.outputs.filter(({ path }) => path.endsWith(".js")).map((one) => one.text()));
  const withText = (text: string) => scripts.filter((script) => script.includes(text));
  const [first = ""] = withText("console.log");
  expect(withText("a small one")).toEqual([first]);
  for (const text of ["a rare one", "xxxx"]) {
    expect(withText(text)).toHaveLength(1);
    expect(withText(text)).not.toEqual([first]);
  }
});
