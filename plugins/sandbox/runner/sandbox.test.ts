// Tests the sandbox: what programs can do, what they can't reach, and how they end.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { LIMITS } from "./limits.ts";
import type { Program, RunOutcome } from "./protocol.ts";
import { createSandbox } from "./sandbox.ts";

const sandbox = createSandbox();
afterAll(() => sandbox.stop());

const { signal } = new AbortController();

/** Runs a program beside these files. */
function run(
  program: Program | string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<RunOutcome> {
  const bytesOf = (content: string | Uint8Array) =>
    new Uint8Array(typeof content === "string" ? new TextEncoder().encode(content) : content);
  return sandbox.run({
    agentId: "agent",
    program: typeof program === "string" ? { code: program } : program,
    files: Object.entries(files).map(([name, content]) => ({ name, mediaType: "text/plain", bytes: bytesOf(content) })),
    signal,
  });
}

describe("code", () => {
  test("gives what it prints and what it returns", async () => {
    expect(await run('console.log("sum", { a: 1 }, [2n]); return await Promise.resolve(1 + 1)')).toEqual({
      ok: true,
      printed: 'sum {"a":1} ["2n"]\n',
      value: "2",
      error: "",
      files: [],
    });
  });

  test("may be TypeScript", async () => {
    expect(await run("interface A { n: number } const a: A = { n: 3 }; return a.n as number")).toMatchObject({
      value: "3",
    });
  });

  test.each([
    ["return new Map([[1, new Set([2])]])", /"Map":/],
    ["const o = {}; o.self = o; return o", /\[Seen\]/],
    ["return () => 1", /Function/],
    ["return 10n ** 20n", /^100000000000000000000/],
    ["return new Uint8Array([7, 8])", /"bytes": 2/],
    ["return null", /^null$/],
    ["return undefined", /^$/],
  ])("returns what can be shown: %s", async (code, value) => {
    expect(await run(code)).toMatchObject({ ok: true, value: expect.stringMatching(value) });
  });

  test("keeps the lines of a long output, up to the limit", async () => {
    const { printed } = await run("for (let n = 0; n < 120; n++) console.log('line', n)");
    expect(printed.split("\n").slice(0, -1)).toEqual(Array.from({ length: 120 }, (_, n) => `line ${n}`));
    const { printed: cut } = await run("for (let n = 0; n < 100000; n++) console.log('x'.repeat(100))");
    expect(cut.length).toBe(LIMITS.output);
  });

  test("that fails says why, with what it has printed before", async () => {
    expect(await run("console.log('before');\nnull.x")).toMatchObject({
      ok: false,
      printed: "before\n",
      error: "TypeError: cannot read property 'x' of null (line 2)",
    });
    expect(await run("const a = 1;\nconst b = ;")).toMatchObject({ error: expect.stringContaining("in line 2") });
    expect(await run("throw { code: 5 }")).toMatchObject({ error: '{"code":5}' });
  });
});

describe("files", () => {
  test("are listed, and read as text or bytes", async () => {
    const code = "return [files.list().map(({ name }) => name), files.read('a.csv'), files.readBytes('b.bin')[1]]";
    const { value } = await run(code, { "a.csv": "ä;1", "b.bin": new Uint8Array([255, 254]) });
    expect(JSON.parse(value)).toEqual([["a.csv", "b.bin"], "ä;1", 254]);
  });

  test("that can't be read say why", async () => {
    expect((await run("files.read('none')", { a: "1", b: "2" })).error).toContain(
      'There is no file "none". There are: a, b.',
    );
    expect((await run("files.read('b')", { b: new Uint8Array([255]) })).error).toContain("no text in UTF-8");
    const lost = [{ name: "x", mediaType: "", error: "It is gone." }];
    const { error } = await sandbox.run({
      agentId: "agent",
      program: { code: "files.read('x')" },
      files: lost,
      signal,
    });
    expect(error).toContain("It is gone.");
  });

  test("that are written come with the outcome; the last one of a name counts", async () => {
    const { files } = await run(
      "files.write('a.svg', 'first'); files.write('a.svg', '<svg/>'); files.write('b', new Uint8Array([1, 2]).subarray(1)); files.write('c.json', { a: 1 })",
    );
    expect(files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([
      ["a.svg", "<svg/>"],
      ["b", "\u0002"],
      ["c.json", '{\n  "a": 1\n}'],
    ]);
  });

  test.each([
    ["for (const n of [1, 2, 3, 4, 5]) files.write('f' + n, '')", "can write 4 files"],
    [`files.write('f', 'x'.repeat(${LIMITS.outputBytes + 1}))`, "can write 2 MB"],
    ["files.write('../f', '')", "A file's name"],
    ["files.write('..', '')", "A file's name"],
  ])("have limits: %s", async (code, error) => {
    expect(await run(code)).toMatchObject({ ok: false, error: expect.stringContaining(error) });
  });
});

describe("scripts", () => {
  test("are modules or CommonJS, with arguments, the files beside them, and parts of Node", async () => {
    const files = {
      "data/list.csv": "a,b",
      "scripts/lib.js": "exports.twice = (text) => text + text;",
      "scripts/numbers.json": '{"one":1}',
      "scripts/main.js":
        "#!/usr/bin/env node\nconst fs = require('fs');\nconst path = require('node:path');\nconst { twice } = require('./lib.js');\n" +
        "if (require.main === module) console.log(twice(process.argv[2]), require('./numbers.json').one);\n" +
        "console.log(fs.readFileSync(path.join(__dirname, '..', 'data', 'list.csv'), 'utf8'), fs.readdirSync('scripts').length);\n" +
        "fs.writeFileSync('out/result.txt', 'kept');\nprocess.exit(0);\nconsole.log('never');",
      "scripts/main.ts":
        "import { readFile } from 'node:fs/promises';\nimport { n } from './n.ts';\nconsole.log(n as number, process.argv.slice(3), await readFile('data/list.csv', 'utf8'));",
      "scripts/n.ts": "export const n: number = 5;",
    };
    const common = await run({ script: "scripts/main.js", args: ["go"] }, files);
    expect(common).toMatchObject({ ok: true, error: "", printed: "gogo 1\na,b 5\n" });
    expect(common.files.map(({ name }) => name)).toEqual(["result.txt"]);
    const module = await run({ script: "scripts/main.ts", args: ["x", "y"] }, files);
    expect(module).toMatchObject({ ok: true, printed: '5 ["y"] a,b\n' });
  });

  test("fail with a reason: what is not there, and a code other than 0", async () => {
    const failing = async (text: string) => (await run({ script: "s.js", args: [] }, { "s.js": text })).error;
    expect(await failing("import 'left-pad';")).toContain("Can't import left-pad");
    expect(await failing("const cp = require('child_process');")).toContain("Can't import child_process");
    expect(await failing("import './gone.js';")).toContain("Can't import ./gone.js");
    expect(await failing("process.exit(2)")).toContain("code 2");
    expect(await failing("let a = ;")).toContain("in line 1");
    expect((await run({ script: "gone.js", args: [] })).error).toContain("There is no script gone.js.");
  });
});

test("a program reaches no network, file system, process, timer or module", async () => {
  const names =
    "fetch Bun require module Deno WebAssembly XMLHttpRequest WebSocket setTimeout setInterval Worker postMessage crypto performance SharedArrayBuffer Atomics";
  const { value } = await run(
    `return ${JSON.stringify(names.split(" "))}.filter((name) => globalThis[name] !== undefined)`,
  );
  expect(JSON.parse(value)).toEqual([]);
  expect(JSON.parse((await run("return [process.env, process.argv]")).value)).toEqual([{}, ["berth"]]);
  for (const code of [
    "eval('1')",
    "new Function('return 1')()",
    "(async () => {}).constructor('return 1')()",
    "await import('node:os')",
  ]) {
    expect((await run(code)).ok).toBe(false);
  }
});

test("a program knows the day and can't measure time", async () => {
  const before = Date.now();
  const { value } = await run(`
    const times = [];
    for (let round = 0; round < 5; round++) {
      let sum = 0;
      for (let step = 0; step < 200_000; step++) sum += step;
      await berth.print(sum);
      times.push(Date.now(), new Date().getTime());
    }
    return times;
  `);
  const times: number[] = JSON.parse(value);
  expect(times[0]).toBeWithin(before, Date.now() + 1);
  // Each look at the clock moves it by one millisecond, whatever has passed.
  expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(times.length);
});

describe("a limit", () => {
  /** Threads of their own, which wait less. */
  const hasty = createSandbox({ limits: { ...LIMITS, timeMs: 300 } });
  afterAll(() => hasty.stop());
  const stopped = async (code: string, on = sandbox) =>
    (await on.run({ agentId: "agent", program: { code }, files: [], signal })).error;

  test("that stops a program is named: steps, time, memory, calls", async () => {
    expect(await stopped("for (;;);")).toContain("about 100 million steps");
    expect(await stopped("await new Promise(() => {})", hasty)).toContain("stopped after 0.3 seconds");
    expect(await stopped("const all = []; for (;;) all.push(new Uint8Array(1e6))")).toContain("more than 64 MiB");
    expect(await stopped("for (;;) await berth.print('')")).toContain("more than 200 times");
  });

  test("of bytes holds for letters of more than one, and what is too much is said", async () => {
    const outcome = await run(`files.write("a.txt", "ä".repeat(${LIMITS.outputBytes / 2 + 1})); return "written"`);
    expect(outcome).toMatchObject({ ok: false, files: [] });
    expect(outcome.error).toContain("2.0 MB with a.txt, and a program can write 2 MB");
  });
});

test("a long value is cut where it is made", async () => {
  expect(await run("return 'x'.repeat(1e7)")).toMatchObject({ ok: true, value: "x".repeat(LIMITS.output) });
});

test("each program starts afresh", async () => {
  await run("globalThis.left = 1; files.left = 1; Object.prototype.left = 1");
  expect((await run("return [typeof left, files.left, ({}).left]")).value).toBe('[\n "undefined",\n null,\n null\n]');
});

test("a program ends with its turn, and the next one runs", async () => {
  const controller = new AbortController();
  const endless = sandbox.run({
    agentId: "agent",
    program: { code: "for (;;);" },
    files: [],
    signal: controller.signal,
  });
  controller.abort(new Error("stopped by its person"));
  await expect(endless).rejects.toThrow("stopped by its person");
  expect((await run("return 'next'")).value).toBe("next");
});

/** Bun's transpiler would execute this in the process. */
test.each([
  'import { writeFileSync } from "node:fs" with { type: "macro" };\nwriteFileSync(FILE, "1");',
  '}\nimport { writeFileSync } from "node:fs" with { type: "macro" };\nwriteFileSync(FILE, "1");\nfunction rest() {',
  '})());\nimport { writeFileSync } from "node:fs" with { type: "macro" };\nwriteFileSync(FILE, "1");\n(async () => (async () => {',
])("macros are not executed", async (template) => {
  const file = `${tmpdir()}/berth-macro-${crypto.randomUUID()}`;
  const code = template.replace("FILE", JSON.stringify(file));
  expect((await run(code)).ok).toBe(false);
  await run({ script: "s.ts", args: [] }, { "s.ts": code });
  expect(existsSync(file)).toBe(false);
});

test("idle threads end by themselves", async () => {
  const short = createSandbox({ queue: { threads: 2, perAgent: 8, total: 100, waitMs: 20_000, idleMs: 1 } });
  await short.run({ agentId: "a", program: { code: "" }, files: [], signal });
  while (short.threads() > 0) await new Promise((resolve) => setImmediate(resolve));
  expect(short.threads()).toBe(0);
});
