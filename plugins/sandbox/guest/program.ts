// Makes the source for the sandbox of a program: the prelude, and the program's code with its types removed.
//
// Sucrase removes types and turns modules into CommonJS, line by line. Bun's own transpiler must never see a program: it
// executes macros (`import … with { type: "macro" }`) in this process, outside the sandbox.
import { transform } from "sucrase";
import type { Program } from "../runner/protocol.ts";
import { prelude } from "./prelude.ts";

export interface Source {
  text: string;
  /** The line of `text` in which the program's own code begins, counted from 1; undefined for a script. */
  firstLine: number | undefined;
}

/** Thrown with a message for the program's author. */
export class SourceError extends Error {}

/** @throws SourceError for code that can't be parsed, or a script that is not there */
export function sourceOf(program: Program, textOf: (name: string) => string | undefined): Source {
  if ("code" in program) {
    const code = javascript("code", program.code, ["typescript"]);
    const before = `const __berth = ${prelude("{}")};\ntry { await __berth.finish(await (async () => {\n`;
    return {
      text: `${before}${code}\n})()); } catch (error) { await __berth.crash(error); }`,
      firstLine: before.split("\n").length,
    };
  }
  const { script } = program;
  const modules = modulesOf(script, textOf);
  const main = modules.get(script);
  if (main === undefined) throw new SourceError(`There is no script ${script}.`);
  modules.delete(script);
  const sources = [...modules].map(
    ([name, code]) => `${JSON.stringify(name)}(module, exports, require, __filename, __dirname) {\n${code}\n}`,
  );
  const path = `/${script}`;
  return {
    // The script itself is asynchronous, so that it may await at its top.
    text: `const __berth = ${prelude(`{${sources.join(",\n")}}`)};
try { await (async (module, require, __filename, __dirname) => { const exports = module.exports; require.main = module;
${main}
})({ exports: {} }, __berth.requireFrom(${JSON.stringify(script)}), ${JSON.stringify(path)}, ${JSON.stringify(path.slice(0, path.lastIndexOf("/")) || "/")}); await __berth.finish(); } catch (error) { await __berth.crash(error); }`,
    firstLine: undefined,
  };
}

const REQUIRE = /\brequire\(\s*(["'])(\.{0,2}\/[^"'\n]{1,200})\1\s*\)/g;
const ENDINGS = ["", ".js", ".ts", ".json", "/index.js"];

/** The script and all files that it requires, as CommonJS, by name. */
function modulesOf(script: string, textOf: (name: string) => string | undefined): Map<string, string> {
  const modules = new Map<string, string>();
  const open = [script];
  for (const name of open) {
    const text = textOf(name);
    if (text === undefined || modules.has(name)) continue;
    const code = name.endsWith(".json")
      ? `module.exports = JSON.parse(${JSON.stringify(text)});`
      : javascript(name, text, ["typescript", "imports"]);
    modules.set(name, code);
    for (const [, , specifier = ""] of code.matchAll(REQUIRE)) {
      const { pathname } = new URL(specifier, `file:///${name}`);
      const found = ENDINGS.map((ending) => decodeURIComponent(pathname.slice(1)) + ending).find(
        (candidate) => textOf(candidate) !== undefined,
      );
      if (found !== undefined) open.push(found);
    }
  }
  return modules;
}

/** The code as JavaScript, with the same lines. */
function javascript(name: string, text: string, transforms: ("typescript" | "imports")[]): string {
  const source = text.replace(/^#!.*/, "").replaceAll("import.meta.url", JSON.stringify(`file:///${name}`));
  try {
    return transform(source, { transforms, disableESTransforms: true, keepUnusedImports: true }).code;
  } catch (error) {
    const [, message = "This is no JavaScript", line] = /^(.*) \((\d+):\d+\)$/s.exec(String(messageOf(error))) ?? [];
    const where = name === "code" ? "" : ` of ${name}`;
    throw new SourceError(`SyntaxError: ${message}${line === undefined ? "" : ` in line ${line}${where}`}.`);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : error);
