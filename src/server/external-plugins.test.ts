// Tests loading third-party plugins, and the errors for invalid files.
import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { temporaryDir } from "../../tests/support/process.ts";
import { openServer } from "../../tests/support/server.ts";
import { StartError } from "../kernel/errors.ts";
import { loadExternalPlugins } from "./external-plugins.ts";

const dir = temporaryDir();
afterAll(() => dir.remove());

let made = 0;
function file(source: string, name = `plugin-${++made}.ts`): string {
  const path = join(dir.path, name);
  writeFileSync(path, source);
  return path;
}

const HELLO = `
  interface Toolkit { plugin: Function; Elysia: any; t: any; AppError: any; guarded: Function; openRoutes: unknown }
  export default ({ plugin, Elysia, t, AppError, guarded, openRoutes }: Toolkit) =>
    plugin("hello", ({ kernel }: any) => {
      const gate = new Elysia({ name: "hello.gate" }).macro({
        knock: (_: true) => guarded(({ request }: { request: Request }) => {
          if (request.headers.get("x-knock") !== "yes") throw new AppError(403, "KNOCK_FIRST", "Knock first.");
        }),
      });
      const web = new Elysia({ name: "hello" }).use(openRoutes).use(gate)
        .get("/hello", () => ({ role: kernel.config.role }), { open: true })
        .post("/hello", ({ body }: any) => ({ hello: body.name }), { open: true, body: t.Object({ name: t.String() }) })
        .post("/gate", ({ body }: any) => ({ hello: body.name }), { knock: true, body: t.Object({ name: t.String() }) });
      return { service: {}, web };
    });`;

const post = async (url: string, body: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
  return [answer.status, ((await answer.json()) as { code?: string; hello?: string }).code ?? "ok"];
};

test("a plugin from disk follows the same rules as built-in ones", async () => {
  const { plugins } = await loadExternalPlugins([relative(process.cwd(), file(HELLO))]);
  expect(plugins.map(({ name }) => name)).toEqual(["hello"]);
  await using server = await openServer({ plugins });
  expect(await (await fetch(`${server.web}/hello`)).json()).toEqual({ role: "all" });
  expect((await fetch(`${server.backend}/hello`)).status).toBe(404);
  expect(await post(`${server.web}/hello`, '{"name":"Ada"}')).toEqual([200, "ok"]);
  expect(await post(`${server.web}/hello`, '{"name":1}')).toEqual([400, "INVALID_INPUT"]);
  expect(await post(`${server.web}/hello`, "{")).toEqual([400, "INVALID_JSON"]);
  expect(await post(`${server.web}/gate`, "{")).toEqual([403, "KNOCK_FIRST"]);
  expect(await post(`${server.web}/gate`, '{"name":"Ada"}', { "x-knock": "yes" })).toEqual([200, "ok"]);
});

test("plugins are loaded in the order given", async () => {
  expect(await loadExternalPlugins([])).toEqual({ plugins: [], settings: [] });
  const named = (name: string) => file(`export default ({ plugin }) => plugin("${name}", () => ({ service: {} }));`);
  const loaded = await loadExternalPlugins([named("second"), named("first")]);
  expect(loaded.plugins.map(({ name }) => name)).toEqual(["second", "first"]);
});

test("settings that a file defines are found; a name of others is refused", async () => {
  const define = (name: string) =>
    file(`export default ({ plugin, defineSettings }) => {
      defineSettings({ name: "${name}", variables: {}, build: () => ({}) });
      return plugin("${name}", () => ({ service: {} }));
    };`);
  const { settings } = await loadExternalPlugins([define("tides")]);
  expect(settings.map(({ name }) => name)).toEqual(["tides"]);
  await expect(loadExternalPlugins([define("wallet")])).rejects.toThrow("other settings have the name wallet already");
  await expect(loadExternalPlugins([define("tides"), define("tides")])).rejects.toThrow("the name tides already");
});

describe("a file that is not a plugin stops the start with its name and the reason", () => {
  const bad: [what: string, source: string, why: RegExp][] = [
    ["broken source", "export default (", /Unexpected|Expected|Parse|error/i],
    ["one that throws", 'throw new Error("no licence.");', /no licence\.$/],
    ["one that throws no Error", 'throw "a text";', /a text\.$/],
    ["one that imports what isn't there", 'import "left-pad-of-nobody"; export default 1;', /left-pad-of-nobody/],
    ["no default export", "export const plugin = 1;", /default export is not a function/],
    ["a default export that is no function", "export default { name: 'x' };", /default export is not a function/],
    ["a function of nothing", "export default () => undefined;", /plugin\(name, setup\)/],
    ["a function of something else", "export default () => ({ name: 'x' });", /plugin\(name, setup\)/],
    ["a function that fails", 'export default () => { throw new Error("not today"); };', /not today\.$/],
  ];

  test.each(bad)("%s", async (_, source, why) => {
    const path = file(source);
    const failure = await loadExternalPlugins([path]).catch((error: unknown) => error);
    if (!(failure instanceof StartError)) throw new Error("It was loaded.");
    expect(failure.message).toStartWith(`The plugin ${path} can't be loaded: `);
    expect(failure.message).toMatch(why);
    expect(failure.message).not.toMatch(/\n|\.\.$|\bat \S+:\d/);
  });

  test("a syntax error with its places and lines", async () => {
    const path = file("export default ({ plugin }) =>\n  plugin('tides', () => ({ service: }));\n");
    await expect(loadExternalPlugins([path])).rejects.toThrow(
      `The plugin ${path} can't be loaded: ${path}:2:37: Unexpected }, in "plugin('tides', () => ({ service: }));".`,
    );
    const two = file("const a = 1;\nconst a = 2;\nconst b = 1;\nconst b = 2;\nexport default 1;\n");
    const failure = await loadExternalPlugins([two]).catch((error: unknown) => String(error));
    expect(failure).toContain(`${two}:2:7: "a" has already been declared`);
    expect(failure).toContain(`${two}:4:7: "b" has already been declared`);
  });

  test("a syntax error in a file that it imports", async () => {
    const part = file("export const height = ;\n");
    const path = file(`import { height } from ${JSON.stringify(part)};\nexport default height;\n`);
    await expect(loadExternalPlugins([path])).rejects.toThrow(`can't be loaded: ${part}:1:23: Unexpected ;`);
  });

  test("a missing file", async () => {
    const path = join(dir.path, "missing.ts");
    await expect(loadExternalPlugins([path])).rejects.toThrow(`The plugin ${path} can't be loaded`);
  });

  test("one with the name of another plugin", async () => {
    const taken = file('export default ({ plugin }) => plugin("auth", () => ({ service: {} }));');
    const { plugins } = await loadExternalPlugins([taken]);
    await expect(openServer({ plugins })).rejects.toThrow("Two plugins have the name auth");
  });
});
