// Checks that every code block of the documentation is run by a test, and itself checks those that are no commands: JSON by its
// schema, settings by their parsers, programs by the compiler. tests/docs/ runs the commands.

import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import { configSchema } from "../plugins/agents/configuration/config-schema.ts";
import { loadConfig } from "../src/kernel/config/config.ts";
import { allSettings } from "../src/server/settings.ts";
import { run } from "../tests/support/process.ts";
import { type CodeBlock, readPage } from "./page.ts";
import { exists, pagesWithBlocks, root } from "./pages.ts";
import { testedBlocks } from "./tested-blocks.ts";

/** So many blocks may stay without a test, each with its reason. Write a block that runs instead of raising it. */
const MAX_NOT_RUN = 1;

const pages = pagesWithBlocks().map((path) => readPage(path));
const all = pages.flatMap(({ blocks }) => blocks);
const checked = all.filter(({ reason, testedBy }) => (reason ?? testedBy) === undefined);
const of = (...languages: string[]) => checked.filter(({ language }) => languages.includes(language));
const placeOf = ({ page, line }: CodeBlock) => `${page}:${line}`;
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
/** The problems of the blocks, each with its place. */
const problems = (blocks: readonly CodeBlock[], find: (block: CodeBlock) => string | undefined) =>
  blocks.flatMap((block) => {
    const problem = find(block);
    return problem === undefined ? [] : [`${placeOf(block)}: ${problem}`];
  });

/** What is wrong with a block of each language that names no test of its own, by its place among the blocks of its page. */
const RULES: Readonly<Record<string, (block: CodeBlock, page: readonly CodeBlock[]) => string | undefined>> = {
  sh: () => undefined,
  dotenv: () => undefined,
  conf: () => undefined,
  json: (block, page) => (/\.json$/.test(block.marks[0] ?? "") ? problemOfFile(block, page) : undefined),
  js: problemOfFile,
  ts: problemOfFile,
  markdown: problemOfFile,
  text(block, page) {
    const before = page[page.indexOf(block) - 1];
    const isOutput = before?.language === "sh" && before.reason === undefined && before.testedBy === undefined;
    return isOutput ? undefined : "It follows no shell block whose output it could be.";
  },
  html: () => "No test is named.",
  python: () => "No test is named.",
};

/** A block with a name is a file, which a shell block behind it uses. */
function problemOfFile(block: CodeBlock, page: readonly CodeBlock[]): string | undefined {
  const [name = ""] = block.marks;
  const [first = ""] = name.split("/");
  if (!first.includes(".") && !name.includes("/")) return "It has neither the name of a file nor that of a test.";
  const users = page.slice(page.indexOf(block)).filter(({ language }) => language === "sh");
  return users.some(({ code }) => code.includes(first)) ? undefined : `No shell block behind it uses ${name}.`;
}

test("each block is run by a test: by that of its language, or by one that it names", () => {
  const found = pages.flatMap(({ blocks }) =>
    problems(
      blocks.filter((block) => checked.includes(block)),
      (block) => (RULES[block.language] ?? (() => `"${block.language}" is not checked.`))(block, blocks),
    ),
  );
  expect(found).toEqual([]);
});

test("a block that no test runs says why: `no-run: measures for minutes`", () => {
  const marked = all.filter(({ marks }) => marks.some((mark) => /^(no-run|tested-by)/.test(mark)));
  expect(marked.map(placeOf)).toEqual([]);
  const without = all.filter(({ reason }) => reason !== undefined && reason.split(" ").length < 3);
  expect(without.map(placeOf)).toEqual([]);
});

test("a block that another test runs names a test that takes it from the page: `tested-by: tests/x.test.ts`", () => {
  const found = problems(all, ({ page, testedBy }) => {
    if (testedBy === undefined) return undefined;
    if (!exists(testedBy)) return `There is no ${testedBy}.`;
    return readFileSync(join(root, testedBy), "utf8").includes(`testedBlocks(import.meta.path, "${page}", `)
      ? undefined
      : `${testedBy} doesn't take its blocks with testedBlocks.`;
  });
  expect(found).toEqual([]);
});

test(`at most ${MAX_NOT_RUN} blocks are not run`, () => {
  const left = all.filter(({ reason }) => reason !== undefined).map((block) => `${placeOf(block)}: ${block.reason}`);
  expect(left.length, left.join("\n")).toBeLessThanOrEqual(MAX_NOT_RUN);
});

describe("json", () => {
  test("is JSON", () => {
    const found = problems(of("json"), ({ code }) => {
      try {
        JSON.parse(code);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    });
    expect(found).toEqual([]);
  });

  test("with keys of an agent's configuration is a configuration", () => {
    const schema = configSchema();
    const keys = Object.keys(schema.properties ?? {});
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    const configurations = of("json").filter(({ code, marks }) => {
      const names = Object.keys(JSON.parse(code));
      return marks.length === 0 && names.length > 0 && names.every((name) => keys.includes(name));
    });
    expect(configurations.length).toBeGreaterThan(15);
    const found = problems(configurations, ({ code }) => {
      if (validate(JSON.parse(code))) return undefined;
      return JSON.stringify(validate.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`));
    });
    expect(found).toEqual([]);
  });

  test("says what it is if it is no configuration: `body` or `response` of a route, or a file", () => {
    const schema = configSchema();
    const keys = Object.keys(schema.properties ?? {});
    const found = problems(of("json"), ({ code, marks }) => {
      const isConfiguration = Object.keys(JSON.parse(code)).every((name) => keys.includes(name));
      return isConfiguration || /^(body|response|[\w-]+\.json)$/.test(marks[0] ?? "") ? undefined : code.slice(0, 60);
    });
    expect(found).toEqual([]);
  });
});

test("settings are settings, with values that are accepted", () => {
  const found = problems(of("dotenv"), ({ code }) => {
    const pairs = code.split("\n").flatMap((line) => {
      const [, name = "", value = ""] = /^([A-Z0-9_]+)=(.*?)(?:\s+#.*)?$/.exec(line) ?? [];
      return name === "" ? [] : [[name, givenValue(value)] as const];
    });
    const known = new Set(allSettings.flatMap(({ variables }) => Object.keys(variables)));
    const unknown = pairs.find(([name]) => !known.has(name));
    if (unknown) return `${unknown[0]} is no setting.`;
    try {
      loadConfig({ ...Object.fromEntries(pairs) }, { settings: allSettings });
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  });
  expect(found).toEqual([]);
});

/** Without quotes, and with something of its form for what the reader has to put in. */
const givenValue = (value: string) =>
  value
    .replace(/^"(.*)"$/, "$1")
    .replace("0x…", "0x000000000000000000000000000000000000dEaD")
    .replace(/^…$/, "0123456789abcdef".repeat(4))
    .replace("https://…", "https://rpc.example.com/key");

test("scripts of npm are those of the project", () => {
  const scripts = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts);
  const texts = pages.map(({ path }) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const named = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ path, name }) => path !== "CHANGELOG.md" && !scripts.includes(name))).toEqual([]);
});

test("programs compile, with the settings that docs/plugins.md gives to authors", async () => {
  // Beside the packages, which they import.
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "blocks-"));
  try {
    // Not those of the client's package, which are compiled in a project that has it, and of pages, which have a browser's types.
    const elsewhere = ["tests/client-package.test.ts", "tests/ui-messages.test.ts"];
    const programs = all
      .filter(({ language, testedBy = "" }) => /^[jt]s$/.test(language) && !elsewhere.includes(testedBy))
      .map((block, index) => ({ block, file: `${index}.${block.language}` }));
    for (const { block, file } of programs) writeFileSync(join(folder, file), `${block.code}\nexport {};\n`);
    const [settings] = testedBlocks(import.meta.path, "docs/plugins.md", 1);
    const tsconfig = JSON.parse(settings.code);
    const compilerOptions = { ...tsconfig.compilerOptions, allowJs: true, noEmit: true };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ ...tsconfig, compilerOptions, include: [...tsconfig.include, "*.js"] }),
    );
    symlinkSync(root, join(folder, "berth-source"));
    const command = ["node", join(root, "node_modules/typescript/bin/tsc"), "-p", "."];
    const { stdout } = await run(command, { PATH: process.env.PATH ?? "" }, folder, 120_000);
    const found = stdout.replace(/^(\d+)\.[jt]s\((\d+)/gm, (_, index, line) => {
      const block = programs[Number(index)]?.block;
      return `${block?.page}:${(block?.line ?? 1) + Number(line) - 1} (${line}`;
    });
    expect(found).toBe("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
