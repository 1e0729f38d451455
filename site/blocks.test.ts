// Checks every code block of the documentation that is no shell command: JSON by its schema, settings by their parsers, programs
// by the compiler. tests/docs/ runs the commands.

import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import Ajv from "ajv";
import { configSchema } from "../plugins/agents/configuration/config-schema.ts";
import { loadConfig } from "../src/kernel/config/config.ts";
import { allSettings } from "../src/server/settings.ts";
import { run } from "../tests/support/process.ts";
import { type CodeBlock, readPage } from "./page.ts";
import { exists, listedPages, root } from "./pages.ts";

/** How each language is checked; blocks of another one are refused. */
const LANGUAGES = ["sh", "bash", "json", "js", "ts", "python", "yaml", "dotenv", "conf", "markdown", "html", "text"];
/** So many blocks may stay unchecked, each with its reason. Write a block that runs instead of raising it. */
const MAX_NOT_RUN = 14;

const all = [...listedPages(), "README.md"].flatMap((path) => readPage(path).blocks);
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

test("each block names a language that is checked; `text` for all that is none", () => {
  expect(problems(all, ({ language }) => (LANGUAGES.includes(language) ? undefined : `"${language}"`))).toEqual([]);
});

test("a block that no test runs says why: `no-run: needs three machines`", () => {
  const marked = all.filter(({ marks }) => marks.some((mark) => /^(no-run|tested-by)/.test(mark)));
  expect(marked.map(placeOf)).toEqual([]);
  const without = all.filter(({ reason }) => reason !== undefined && reason.split(" ").length < 3);
  expect(without.map(placeOf)).toEqual([]);
});

test("a block that another test runs names a test that reads its page: `tested-by: tests/x.test.ts`", () => {
  const found = problems(all, ({ page, testedBy }) => {
    if (testedBy === undefined) return undefined;
    if (!exists(testedBy)) return `There is no ${testedBy}.`;
    return readFileSync(join(root, testedBy), "utf8").includes(basename(page))
      ? undefined
      : `${testedBy} doesn't name it.`;
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

  test("says what it is if it is no configuration: `body` or `response` of a route, `example`, or a file", () => {
    const schema = configSchema();
    const keys = Object.keys(schema.properties ?? {});
    const found = problems(of("json"), ({ code, marks }) => {
      const isConfiguration = Object.keys(JSON.parse(code)).every((name) => keys.includes(name));
      return isConfiguration || /^(body|response|example|[\w-]+\.json)$/.test(marks[0] ?? "")
        ? undefined
        : code.slice(0, 60);
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

test("python has a test of its own", () => {
  expect(of("python").map(placeOf)).toEqual([]);
});

test("yaml is YAML", () => {
  const found = problems(of("yaml"), ({ code }) => {
    try {
      Bun.YAML.parse(code);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  });
  expect(found).toEqual([]);
});

test("programs compile", async () => {
  // Beside the packages, which they import.
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "blocks-"));
  try {
    const programs = of("js", "ts").map((block, index) => ({ block, file: `${index}.${block.language}` }));
    for (const { block, file } of programs) writeFileSync(join(folder, file), `${block.code}\nexport {};\n`);
    // As the guide for authors of plugins says.
    const compilerOptions = { allowJs: true, noEmit: true, paths: { "berth/*": [join(root, "*")] } };
    const files = [join(root, "types.d.ts"), ...programs.map(({ file }) => file)];
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, files, include: [] }),
    );
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
}, 120_000);
