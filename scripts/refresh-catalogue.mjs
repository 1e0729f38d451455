// Updates prices and context windows in plugins/ai/providers/definitions from the list of models.dev, or from a file of the
// same form: node scripts/refresh-catalogue.mjs [FILE | URL] [--check]. The models' tags, except `long`, are kept.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const SOURCE = "https://models.dev";
/** The context window, in tokens, from which a model is tagged for long texts. */
const LONG = 900_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Changes nothing; the exit code is 1 if something would change. */
    check: { type: "boolean", default: false },
    /** The date of the list. */
    date: { type: "string", default: new Date().toISOString().slice(0, 10) },
    /** The folder of the definitions. */
    data: {
      type: "string",
      default: join(dirname(fileURLToPath(import.meta.url)), "../plugins/ai/providers/definitions"),
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
let changes = 0;
let missing = 0;

const refreshed = readdirSync(values.data).map((name) => {
  const path = join(values.data, name);
  const text = readFileSync(path, "utf8");
  const [, provider] = /^ {2}id: "(provider_\d+)",$/m.exec(text) ?? [];
  const [, priceListId] = /^ {2}priceListId: "([^"]+)",$/m.exec(text) ?? [];
  return { path, text, lines: text.split("\n").map((line) => refreshLine(line, provider, priceListId)) };
});

/** The line of a model with its newest figures; any other line as it is. */
function refreshLine(line, provider, priceListId) {
  const model = /^ {4}\["([^"]+)", (.+)\],$/.exec(line);
  if (!model) return line;
  const [, id, rest] = model;
  const found = list[priceListId]?.models?.[id];
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
}

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
  for (const { path, text, lines } of refreshed) {
    const dated = lines.join("\n").replace(/(CATALOGUE_DATE = )"[^"]*"/, `$1"${values.date}"`);
    if (dated !== text) writeFileSync(path, dated);
  }
}
