// The JavaScript that every program finds in the sandbox: `console`, `files`, `process`, and small parts of Node for scripts.
//
// It runs inside the sandbox, where the host offers `berth` (`runner/sandbox-thread.ts`). Calls of the host are asynchronous;
// what programs call is not, because models forget `await`: files are there before the program starts, and what it writes leaves
// with its end.
import { LIMITS } from "../runner/limits.ts";

/** Lines that are sent one by one, so that a program that is ended has shown them. */
const SINGLE_LINES = 10;
/** Characters that are sent together later. */
const BATCH = 1_000;

const OUTPUT = String.raw`
const sent = [];
let batch = "";
let printed = 0;
let lines = 0;
const flush = () => {
  if (batch !== "") sent.push(berth.print(batch));
  batch = "";
};
const plain = () => {
  const seen = [];
  return (key, item) => {
    if (typeof item === "bigint") return item + "n";
    if (typeof item === "function" || typeof item === "symbol") return String(item).slice(0, 100);
    if (typeof item !== "object" || item === null) return item;
    if (item instanceof Error) return item.name + ": " + item.message;
    if (item instanceof Map) return { Map: [...item] };
    if (item instanceof Set) return { Set: [...item] };
    if (ArrayBuffer.isView(item)) return { bytes: item.byteLength, start: Array.from(new Uint8Array(item.buffer, item.byteOffset, Math.min(item.byteLength, 50))) };
    if (seen.includes(item)) return "[Seen]";
    if (seen.length < 1000) seen.push(item);
    return item;
  };
};
const show = (value, indent) => {
  if (typeof value === "function") return "[Function " + (value.name || "anonymous") + "]";
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Error) return value.name + ": " + value.message;
  return JSON.stringify(value, plain(), indent);
};
const log = (...values) => {
  if (printed > ${LIMITS.output}) return;
  const text = (values.map((value) => show(value)).join(" ") + "\n").slice(0, ${LIMITS.output});
  printed += text.length;
  batch += text;
  if (++lines <= ${SINGLE_LINES} || batch.length >= ${BATCH} || printed > ${LIMITS.output}) flush();
};
for (const name of ["log", "info", "debug", "warn", "error", "trace", "dir"]) console[name] = log;
console.table = (rows) => log(show(rows, 1));
Object.freeze(console);
`;

const FILES = String.raw`
const utf8 = (text) => {
  const bytes = [];
  for (const letter of text) {
    let code = letter.codePointAt(0);
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return new Uint8Array(bytes);
};
const inputs = new Map(loaded.files.map((file) => [file.name, file]));
const written = new Map();
const find = (name) => {
  const own = written.get(String(name));
  if (own !== undefined) return typeof own === "string" ? { text: own } : { bytes: own };
  const file = inputs.get(String(name));
  if (!file) throw new Error("There is no file " + JSON.stringify(name) + ". There are: " + ([...inputs.keys()].join(", ") || "none") + ".");
  if (file.error !== undefined) throw new Error(file.error);
  return file;
};
globalThis.files = Object.freeze({
  list: () => loaded.files.map(({ name, mediaType, size }) => ({ name, mediaType, size })),
  read(name) {
    const { text } = find(name);
    if (text === undefined) throw new Error("This file is no text in UTF-8. Read it with files.readBytes.");
    return text;
  },
  readBytes(name) {
    const { text, bytes } = find(name);
    return text === undefined ? new Uint8Array(bytes) : utf8(text);
  },
  write(name, data) {
    const file = String(name);
    if (!/^[^\p{Cc}/\\]{1,100}$/u.test(file) || /^\.+$/.test(file)) throw new Error("A file's name has 1 to 100 characters, without / and \\.");
    if (!written.has(file) && written.size >= ${LIMITS.outputFiles}) throw new Error("A program can write ${LIMITS.outputFiles} files.");
    const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() : data instanceof ArrayBuffer ? new Uint8Array(data.slice(0)) : undefined;
    const content = bytes || (typeof data === "string" ? data : show(data, 2));
    let total = content.length;
    for (const [other, { length }] of written) if (other !== file) total += length;
    if (total > ${LIMITS.outputBytes}) throw new Error("A program can write ${LIMITS.outputBytes / 1e6} MB.");
    written.set(file, content);
  },
});
class Exit extends Error {}
const stream = Object.freeze({ write: (text) => { log(String(text).replace(/\n$/, "")); return true; } });
globalThis.process = Object.freeze({
  argv: Object.freeze(["berth", ...loaded.args]),
  env: Object.freeze({}),
  platform: "berth",
  versions: Object.freeze({}),
  cwd: () => "/",
  exit(code = 0) { throw Object.assign(new Exit("The script ended with the code " + code + "."), { code }); },
  stdout: stream,
  stderr: stream,
  on() {},
});
globalThis.global = globalThis;
`;

/** The modules of Node that scripts may require, as far as they make sense here: files, and paths. */
const NODE = String.raw`
const normal = (path) => {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
};
const path = {
  sep: "/",
  normalize: (one) => normal(one) || ".",
  join: (...parts) => normal(parts.filter(Boolean).join("/")) || ".",
  resolve: (...parts) => normal("/" + parts.reduce((base, part) => (part.startsWith("/") ? part : base + "/" + part), "")),
  basename(one, end = "") {
    const name = one.split("/").filter(Boolean).pop() || "";
    return end && name.endsWith(end) ? name.slice(0, -end.length) : name;
  },
  dirname: (one) => one.split("/").slice(0, -1).join("/") || (one.startsWith("/") ? "/" : "."),
  extname: (one) => (/[^/.](\.[^./]*)$/.exec(one) || [])[1] || "",
  isAbsolute: (one) => one.startsWith("/"),
};
const nameOf = (one) => normal(String(one).replace(/^file:\/\//, "")).replace(/^\//, "");
const fs = {
  readFileSync(one, options) {
    if (typeof options === "string" || (options && options.encoding)) return files.read(nameOf(one));
    return Object.assign(files.readBytes(nameOf(one)), { toString: () => files.read(nameOf(one)) });
  },
  writeFileSync: (one, data) => files.write(nameOf(one).split("/").pop(), data),
  existsSync: (one) => [...inputs.keys(), ...written.keys()].some((name) => name === nameOf(one) || name.startsWith(nameOf(one) + "/") || nameOf(one) === ""),
  readdirSync(one) {
    const start = nameOf(one) === "" ? "" : nameOf(one) + "/";
    return [...new Set([...inputs.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length).split("/")[0]))];
  },
  mkdirSync() {},
};
fs.promises = Object.fromEntries(["readFile", "writeFile", "readdir", "mkdir"].map((name) => [name, async (...args) => fs[name + "Sync"](...args)]));
Object.assign(fs, { readFile: fs.promises.readFile, writeFile: fs.promises.writeFile });
const builtIn = {
  fs,
  "fs/promises": fs.promises,
  path,
  process,
  url: { fileURLToPath: (one) => String(one).replace(/^file:\/\//, "") },
  util: { inspect: (value) => show(value, 2) },
};
const modules = new Map();
const requireFrom = (importer) => {
  const require = (specifier) => {
    const own = builtIn[specifier.replace(/^node:/, "")];
    if (own) return own;
    const base = specifier.startsWith("/") ? "" : importer.split("/").slice(0, -1).join("/") + "/";
    const wanted = nameOf(base + specifier);
    const name = /^\.{0,2}\//.test(specifier) && [wanted, wanted + ".js", wanted + ".ts", wanted + ".json", wanted + "/index.js"].find((one) => one in sources);
    if (!name) throw new Error("Can't import " + specifier + ": there are only the files of the skill, and of Node " + Object.keys(builtIn).join(", ") + ".");
    const known = modules.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(name, module);
    sources[name](module, module.exports, requireFrom(name), "/" + name, "/" + name.split("/").slice(0, -1).join("/"));
    return module.exports;
  };
  return require;
};
`;

const END = String.raw`
const send = async () => {
  flush();
  await Promise.all(sent);
  for (const [name, data] of written) await berth.write(name, data);
};
return {
  requireFrom,
  async finish(value) {
    await send();
    if (value !== undefined) await berth.done(show(value, 1).slice(0, ${LIMITS.output}));
  },
  async crash(error) {
    await send();
    if (error instanceof Exit && error.code === 0) return;
    const line = (/at [^\n]*run\.js:(\d+)/.exec((error && error.stack) || "") || [])[1];
    if (!(error instanceof Error)) await berth.fail(show(error), 0);
    else await berth.fail(error instanceof Exit ? error.message : error.name + ": " + error.message, Number(line || 0));
  },
};
`;

/** An expression for what begins and ends a program. `sources` is an object of functions: the modules of a script. */
export const prelude = (sources: string) =>
  `await (async () => { const loaded = await berth.load(); const sources = ${sources};${OUTPUT}${FILES}${NODE}${END}})()`;
