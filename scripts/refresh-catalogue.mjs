// Updates prices and context windows in plugins/ai/providers/catalogue-data.ts from the list of models.dev, or from a file of
// the same form: node scripts/refresh-catalogue.mjs [FILE | URL] [--check]. The models' tags, except `long`, are kept.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const SOURCE = "https://models.dev";
/** The names of Berth's providers in the list. */
const NAMES = {
  provider_1: "openrouter",
  provider_2: "google",
  provider_3: "groq",
  provider_4: "anthropic",
  provider_5: "openai",
};
/** The context window, in tokens, from which a model is tagged for long texts. */
const LONG = 900_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Changes nothing; the exit code is 1 if something would change. */
    check: { type: "boolean", default: false },
    /** The date of the list. */
    date: { type: "string", default: new Date().toISOString().slice(0, 10) },
    data: {
      type: "string",
      default: join(dirname(fileURLToPath(import.meta.url)), "../plugins/ai/providers/catalogue-data.ts"),
    },
  },
});

async function read(source) {
  if (!/^https?:/.test(source)) return JSON.parse(readFileSync(source, "utf8"));
  const response = await fetch(source, { signal: AbortSignal.timeout(60_000) });
  if (!response.ok) throw new Error(`${source} answered ${response.status}.`);
  return response.json();
}

const list = await read(positionals[0] ?? `${SOURCE}/api.json`);
const text = readFileSync(values.data, "utf8");
let changes = 0;
let missing = 0;
let provider = "";

const lines = text.split("\n").map((line) => {
  provider = /^ {2}(provider_\d): \[/.exec(line)?.[1] ?? provider;
  const model = /^ {4}\["([^"]+)", (.+)\],$/.exec(line);
  if (!model) return line;
  const [, id, rest] = model;
  const found = list[NAMES[provider]]?.models?.[id];
  const price = (usd) => (typeof usd === "number" && usd >= 0 ? String(usd) : undefined);
  const input = price(found?.cost?.input);
  const output = price(found?.cost?.output);
  if (input === undefined || output === undefined) {
    missing++;
    console.warn(`${provider}:${id} is not listed any more, or has no price; it is not changed.`);
    return line;
  }
  const chat = /^("[^"]*", "[^"]*"), ([\d._]+), ([\d._]+), ([\d_]+), "([^"]*)"$/.exec(rest);
  const newLine = chat ? chatRow(id, chat, input, output, found.limit?.context) : `    ["${id}", ${input}],`;
  if (newLine !== line) {
    changes++;
    console.log(`${provider}:${id}\n- ${line.trim()}\n+ ${newLine.trim()}`);
  }
  return newLine;
});

function chatRow(id, [, names, , , oldWindow, tags], input, output, context) {
  // Some entries of the list have no context window; then the old one is kept.
  const window = Number.isSafeInteger(context) && context > 0 ? context : Number(oldWindow.replaceAll("_", ""));
  const others = tags.split(" ").filter((tag) => tag !== "long");
  const all = [...others, ...(window >= LONG ? ["long"] : [])].join(" ");
  return `    ["${id}", ${names}, ${input}, ${output}, ${grouped(window)}, "${all}"],`;
}

function grouped(count) {
  return count < 10_000 ? String(count) : count.toLocaleString("en").replaceAll(",", "_");
}

console.log(`${changes} changed, ${missing} not found.`);
if (values.check) process.exitCode = changes > 0 ? 1 : 0;
else {
  const dated = lines.join("\n").replace(/(CATALOGUE_DATE = )"[^"]*"/, `$1"${values.date}"`);
  if (dated !== text) writeFileSync(values.data, dated);
}
