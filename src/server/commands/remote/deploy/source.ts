// Reads agent.json or agent.yaml with all that it refers to: secrets of the environment, and files beside it.
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { type AgentFile, readAgentFile, variableOf } from "../../../../../plugins/agents/as-code/agent-file.ts";
import { environment } from "../../../../kernel/config/config.ts";
import type { Issue } from "../../../../kernel/errors.ts";
import { UsageError } from "../../options.ts";

/** A file that the agent shall know. */
export interface LocalFile {
  name: string;
  path: string;
  /** SHA-256 of its bytes, base64url. */
  digest: string;
}

export interface Source {
  file: AgentFile & { name: string };
  warnings: Issue[];
  /** The values of the variables that the file names. */
  secrets: ReadonlyMap<string, string>;
  knowledge: readonly LocalFile[];
}

/** As the service takes them. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;

export const isYaml = (path: string) => [".yaml", ".yml"].includes(extname(path).toLowerCase());

/** Throws UsageError with all that is wrong with the file, before anything is sent. */
export async function readSource(path: string): Promise<Source> {
  const { file, issues, warnings } = await readAgentFile(await parse(path));
  const secrets = new Map<string, string>();
  const variables = environment();
  for (const { path: where, variable } of referencesOf(file)) {
    const value = variables[variable]?.trim();
    if (value) secrets.set(variable, value);
    else issues.push({ path: where, message: `The environment has no ${variable}.` });
  }
  const knowledge = await findKnowledge(dirname(resolve(path)), file.knowledge ?? [], issues);
  if (issues.length > 0)
    throw new UsageError(
      `${path}: ${issues.map(({ path: at, message }) => `${at ? `${at}: ` : ""}${message}`).join(" ")}`,
    );
  return { file: { ...file, name: (file.name ?? "").trim() }, warnings, secrets, knowledge };
}

async function parse(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") throw new UsageError(`There is no file ${path}.`);
    throw code === "EISDIR" ? new UsageError(`${path} is a folder. Name the file in it.`) : error;
  });
  try {
    if (!isYaml(path)) return JSON.parse(text);
    const { parse: parseYaml } = await import("yaml");
    return parseYaml(text, { prettyErrors: true });
  } catch (error) {
    // The first line says what is wrong and where; what follows quotes the file.
    const reason = error instanceof Error ? error.message.split("\n")[0]?.replace(/:$/, "") : String(error);
    throw new UsageError(`${path} is no valid ${isYaml(path) ? "YAML" : "JSON"}: ${reason}`);
  }
}

/** Each place of the file that names a variable. */
function referencesOf({ credentials = new Map<string, string | null>(), channels = {} }: AgentFile) {
  const found: { path: string; variable: string }[] = [];
  for (const [key, reference] of credentials) {
    if (reference !== null) found.push({ path: `credentials.${key}`, variable: variableOf(reference) });
  }
  for (const [channel, connection] of Object.entries(channels)) {
    if (connection?.token) found.push({ path: `channels.${channel}.token`, variable: variableOf(connection.token) });
  }
  return found;
}

async function findKnowledge(folder: string, patterns: readonly string[], issues: Issue[]): Promise<LocalFile[]> {
  const paths = new Set<string>();
  for (const [index, pattern] of patterns.entries()) {
    const isPattern = /[*?[{]/.test(pattern);
    const matches = isPattern ? await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: folder })) : [pattern];
    if (matches.length === 0) issues.push({ path: `knowledge[${index}]`, message: `No file is like ${pattern}.` });
    for (const match of matches.sort()) paths.add(join(folder, match));
  }
  const found = new Map<string, LocalFile>();
  for (const path of paths) {
    const shown = relative(folder, path);
    const info = await stat(path).catch(() => undefined);
    const name = basename(path);
    const other = found.get(name);
    if (!info?.isFile()) issues.push({ path: "knowledge", message: `There is no file ${shown}.` });
    else if (info.size > MAX_FILE_BYTES) issues.push({ path: "knowledge", message: `${shown} has more than 20 MiB.` });
    else if (other) {
      const message = `${relative(folder, other.path)} and ${shown} have the same name, by which the agent knows a file.`;
      issues.push({ path: "knowledge", message });
    } else {
      const digest = new Bun.CryptoHasher("sha256").update(await readFile(path)).digest("base64url");
      found.set(name, { name, path, digest });
    }
  }
  return [...found.values()];
}
