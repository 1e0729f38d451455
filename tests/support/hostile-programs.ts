// Families of hostile programs for the sandbox. Each makes a program of a number: the same number, the same program.

/** A number from 1 to `most` that follows from the seed. */
const pick = (seed: number, most: number) => 1 + ((Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 8) % most);

type Family = (seed: number) => string;

const loops: Record<string, Family> = {
  "endless loop": () => "while (true) {}",
  "endless loop with work": (n) => `let x = ${n}; for (;;) x = (x * 31 + 7) % ${1000 + pick(n, 1000)};`,
  "endless microtasks": () => "for (;;) await null;",
  "a promise that never settles": () => "await new Promise(() => {});",
  "promises without end": (n) =>
    `const all = []; for (;;) all.push(...Array.from({ length: ${pick(n, 500)} }, async () => 1));`,
  "a thenable that calls itself": () => "const t = { then(ok) { ok(t); } }; return t;",
  "an async generator without end": () => "async function* g() { for (;;) yield 1; } for await (const x of g()) ;",
  "a generator that is spread": () => "function* g() { for (;;) yield 1; } return [...g()];",
  "nested loops": (n) => `for (let a = 0; a < 1e9; a++) for (let b = 0; b < ${pick(n, 1e6)}; b++) Math.sqrt(a * b);`,
  "a sort with a lying comparison": (n) =>
    `return Array.from({ length: ${1e5 + n} }, Math.random).sort(() => Math.random() - 0.5).length;`,
};

const memory: Record<string, Family> = {
  "arrays without end": (n) => `const all = []; for (;;) all.push(new Array(${pick(n, 5000)}).fill(0));`,
  "typed arrays": (n) => `const all = []; for (;;) all.push(new Uint8Array(${pick(n, 64)} * 1024 * 1024).fill(1));`,
  "one typed array": (n) => `return new Uint8Array(2 ** ${26 + pick(n, 8)}).length;`,
  "doubled strings": () => "let s = 'x'; for (;;) s += s;",
  "a repeated string": (n) => `return 'ab'.repeat(2 ** ${20 + pick(n, 9)});`,
  padding: (n) => `return ''.padEnd(2 ** ${20 + pick(n, 9)}, 'xy').split('');`,
  "objects without end": () => "let o = {}; for (;;) o = { o, p: { o } };",
  "a map without end": () => "const m = new Map(); for (let n = 0; ; n++) m.set({}, n + 'x'.repeat(100));",
  "closures without end": () => "let f = () => 0; for (;;) { const g = f; f = () => g; }",
  "big integers": (n) => `let b = ${n}n + 3n; for (;;) b *= b;`,
  "a joined array": (n) => `return new Array(${1e7 + n}).join('xyz');`,
  "flattened nesting": (n) =>
    `let a = [1]; for (let n = 0; n < ${20 + pick(n, 10)}; n++) a = [a, a]; return a.flat(Infinity).length;`,
};

const depth: Record<string, Family> = {
  recursion: () => "const f = (n) => f(n + 1) + 1; return f(0);",
  "recursion by a getter": () => "const o = { get a() { return this.a; } }; return o.a;",
  "recursion by toString": () => "const o = { toString() { return '' + this; } }; return '' + o;",
  "recursion by a proxy": () => "const p = new Proxy({}, { get: (_, k, self) => self[k] }); return p.x;",
  "deep JSON": (n) => `return JSON.parse('['.repeat(${1e4 * pick(n, 20)}) + ']'.repeat(${1e4 * pick(n, 20)}));`,
  "a deep result": (n) => `let o = {}; for (let n = 0; n < ${1e4 * pick(n, 10)}; n++) o = { o }; return o;`,
  "deep parentheses": (n) => `return ${"(".repeat(1000 + pick(n, 9000))}1`,
  "deep brackets": (n) => `return ${"[".repeat(5000 + pick(n, 2000))}${"]".repeat(5000 + pick(n, 2000))}`,
  "a deep pattern": (n) =>
    `return new RegExp('('.repeat(${1000 * pick(n, 20)}) + ')'.repeat(${1000 * pick(n, 20)})).test('x');`,
  "deep source": (n) => `${"if (1) {".repeat(1000 + pick(n, 3000))}`,
  "many conditions": (n) => `return ${"a ? (b) : ".repeat(1000 + pick(n, 2000))}c => d`,
};

const patterns: Record<string, Family> = {
  "a catastrophic pattern": (n) => `return /^(a+)+$/.test('a'.repeat(${30 + pick(n, 30)}) + 'b');`,
  "a catastrophic pattern with back references": (n) => `return /(.*)*\\1x/.test('a'.repeat(${25 + pick(n, 30)}));`,
  "a replacement that grows": (n) =>
    `let s = 'ab'; for (let n = 0; n < ${40 + pick(n, 40)}; n++) s = s.replace(/./g, '$&$&'); return s;`,
  "a pattern with a huge repetition": () => "return /(?:a{1000}){1000}/.test('a'.repeat(1e6));",
};

const tricks: Record<string, Family> = {
  "changed prototypes": () =>
    "for (const o of [Object, Array, Function, Promise, String]) try { o.prototype.then = (f) => f(1); o.prototype.toJSON = () => 'x'; } catch {} return {};",
  "__proto__ in JSON": () =>
    `return JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');`,
  "a getter on the result": () => "return { get a() { for (;;); } };",
  "a throwing getter on the result": () => "return { get a() { throw new Proxy({}, { get() { throw 1; } }); } };",
  "toJSON without end": () => "return { toJSON() { return [this, { toJSON: this.toJSON }]; } };",
  "a proxy as the result": () =>
    "return new Proxy({}, { ownKeys: () => Array.from({ length: 1e6 }, (_, n) => 'k' + n), getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });",
  "a hostile error": () =>
    "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e;",
  "a huge error": () => "throw new Error('x'.repeat(5e6));",
  "the constructor of functions": () => "return (() => {}).constructor.constructor('return process.env')();",
  "the constructor of host functions": () =>
    "return [files.list, console.log, berth.print, berth].map((f) => { try { return f.constructor.constructor('return process')().env; } catch (e) { return String(e); } });",
  "eval in other clothes": () => "return [globalThis['ev' + 'al'], Reflect.construct(Function, ['return this'])];",
  "names of the library": () =>
    "return Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith('__')).map((name) => { try { return String(globalThis[name]('process.env', '[]')); } catch (e) { return String(e); } });",
  imports: () =>
    "return Promise.allSettled(['node:os', 'bun', '/etc/passwd', 'file:///etc/passwd', 'data:text/javascript,export default 1', 'berth:../../x', 'run'].map((name) => import(name)));",
  "the environment": () =>
    "return [typeof process, process.env, typeof Bun, typeof require, this, globalThis.constructor?.name];",
};

const calls: Record<string, Family> = {
  "calls without end": () => "for (;;) files.list();",
  "prints without end": (n) => `for (;;) console.log('x'.repeat(${pick(n, 10_000)}));`,
  "reads without end": () => "for (;;) files.readBytes('input.txt');",
  "writes without end": (n) =>
    `for (let n = 0; ; n++) try { files.write('f' + n, new Uint8Array(${pick(n, 1e5)})); } catch {}`,
  "huge arguments": (n) => `files.write('f', 'x'.repeat(${1e6 * pick(n, 20)}));`,
  "odd arguments": () =>
    "return [[], null, {}, Symbol(), () => 1, new Proxy({}, {}), { toString() { throw 1; } }, -0, NaN].flatMap((x) => [files.read, files.write, console.log, berth.print, berth.done, berth.fail].map((f) => { try { return String(f(x, x, x)); } catch (e) { return String(e); } }));",
  "calls of the host at its depth": () => "const f = () => { berth.list(); return f(); }; return f();",
  "control characters": () => String.raw`console.log('\u001b[2J\u0000\ud800', '\u202e'.repeat(1000)); return '\ud800';`,
};

export const families: Readonly<Record<string, Family>> = {
  ...loops,
  ...memory,
  ...depth,
  ...patterns,
  ...tricks,
  ...calls,
};
