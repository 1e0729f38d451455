// Reads SKILL.md by the Agent Skills specification (agentskills.io/specification): fields in YAML, then instructions.
//
// As the specification's guide for clients says, what an agent can do without only causes a warning.

import { oneLine } from "../../../src/kernel/util/text/quoted-text.ts";
import { toStorableText } from "../../../src/kernel/util/text/storable-text.ts";
import { LIMITS, type Problem, problem, UnusableFolder } from "./problems.ts";

/** What SKILL.md says about the skill. */
export interface SkillFields {
  name: string;
  description: string;
  license: string | null;
  compatibility: string | null;
  /** The tools that the author wants to be allowed. Shown only: it grants nothing. */
  allowedTools: string[];
  metadata: Readonly<Record<string, string>>;
}

export interface SkillFile extends SkillFields {
  /** The instructions. */
  body: string;
  warnings: Problem[];
}

/** Characters that are kept of a field; the specification's limits are lower. */
const MAX_FIELD = 2_000;
const MAX_METADATA = 30;
const MAX_TOOLS = 50;
const NAME = /^[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)*$/u;
const FRONTMATTER = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/;
const FIELDS = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"]);

/**
 * @param folder the name of the folder it is in; undefined where that is unknown
 * @throws UnusableFolder with everything that is wrong, if a name, a description or readable fields are missing
 */
export function readSkillFile(text: string, folder: string | undefined): SkillFile {
  const source = toStorableText(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"));
  const match = FRONTMATTER.exec(source);
  if (!match) throw new UnusableFolder([problem("NO_FRONTMATTER", "SKILL.md")]);
  const frontmatter = match[1] ?? "";
  if (frontmatter.length > LIMITS.frontmatter) throw new UnusableFolder([problem("FRONTMATTER_TOO_LONG", "SKILL.md")]);
  const warnings: Problem[] = [];
  const warn = (code: Parameters<typeof problem>[0], field?: string) =>
    warnings.push(problem(code, field === undefined ? "SKILL.md" : at(field)));
  const fields = parseFields(frontmatter, warn);
  for (const field of fields.keys()) if (!FIELDS.has(field)) warn("UNKNOWN_FIELD", oneLine(field).slice(0, 50));

  const textOf = (field: string): string | undefined => {
    const value = fields.get(field);
    const found = scalarText(value);
    if (found === undefined && value !== undefined && value !== null) warn("FIELD_IGNORED", field);
    return found === undefined || found === "" ? undefined : found.slice(0, MAX_FIELD).toWellFormed();
  };
  const problems: Problem[] = [];
  const name = nameOf(textOf("name"), folder, warn);
  if (name === undefined) problems.push(problem("NO_NAME", at("name")));
  else if (name.length > LIMITS.name) problems.push(problem("NAME_UNUSABLE", at("name")));
  const description = textOf("description");
  if (description === undefined) problems.push(problem("NO_DESCRIPTION", at("description")));
  else if (description.length > 1024) warn("DESCRIPTION_LONG", "description");
  const compatibility = textOf("compatibility") ?? null;
  if (compatibility !== null && compatibility.length > 500) warn("COMPATIBILITY_LONG", "compatibility");
  if (problems.length > 0 || name === undefined || description === undefined) {
    throw new UnusableFolder([...problems, ...warnings]);
  }
  return {
    name,
    description,
    license: textOf("license") ?? null,
    compatibility,
    allowedTools: toolsOf(fields.get("allowed-tools"), warn),
    metadata: metadataOf(fields.get("metadata"), warn),
    body: source.slice(match[0].length).trim(),
    warnings,
  };
}

const at = (field: string) => `SKILL.md: ${field}`;
type Warn = (code: Parameters<typeof problem>[0], field?: string) => void;

function parseFields(frontmatter: string, warn: Warn): ReadonlyMap<string, unknown> {
  const keys: readonly string[] = frontmatter.match(/^[\w-]+(?=[ \t]*:)/gm) ?? [];
  const twice = new Set(keys.filter((key, index) => keys.indexOf(key) !== index));
  for (const key of twice) warn("DUPLICATE_FIELD", key.slice(0, 50));
  const parsed = parseYaml(frontmatter);
  if (parsed) return parsed;
  const repaired = parseYaml(quoteValues(frontmatter));
  if (!repaired) throw new UnusableFolder([problem("INVALID_YAML", "SKILL.md")]);
  warn("YAML_REPAIRED");
  return repaired;
}

/** The fields; undefined if the text is not valid, or is no map. Aliases are shared objects, so values are not walked. */
function parseYaml(text: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = Bun.YAML.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return new Map(Object.entries(value));
  } catch {
    // The caller reports it, with what can be done.
    return undefined;
  }
}

/** Other clients accept `description: Use when: it rains`, which is no YAML. */
const quoteValues = (text: string) =>
  text.replace(/^([ \t]*[\w-]+):[ \t]+([^\s"'|>[{&*!].*)$/gm, (_, key: string, value: string) => {
    return `${key}: ${JSON.stringify(value.trimEnd())}`;
  });

/** Undefined for anything but a text, a number or a boolean. */
function scalarText(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined;
  return toStorableText(String(value)).trim();
}

function nameOf(given: string | undefined, folder: string | undefined, warn: Warn): string | undefined {
  const name = given === undefined ? undefined : oneLine(given.normalize("NFKC"));
  if (name === undefined || name === "") {
    if (folder) warn("NAME_FROM_FOLDER", "name");
    return folder;
  }
  if (name.length > 64 || !NAME.test(name)) warn("NAME_FORM", "name");
  if (folder !== undefined && folder.normalize("NFKC") !== name) warn("NAME_NOT_FOLDER", "name");
  return name;
}

/** A text with blanks between the tools, or a list, as some authors write it. */
function toolsOf(value: unknown, warn: Warn): string[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value.slice(0, MAX_TOOLS).map(scalarText) : splitTools(scalarText(value));
  const tools = list?.flatMap((tool) => (tool ? [oneLine(tool).slice(0, 100).toWellFormed()] : []));
  if (!tools) {
    warn("FIELD_IGNORED", "allowed-tools");
    return [];
  }
  return tools.slice(0, MAX_TOOLS);
}

/** A tool's pattern in brackets may have blanks: `Bash(git add:*) Read`. */
const splitTools = (text: string | undefined) =>
  text?.slice(0, MAX_FIELD).match(/[^\s(,]+(?:\([^)]*\))?/g) ?? (text === "" ? [] : undefined);

function metadataOf(value: unknown, warn: Warn): Record<string, string> {
  if (value === undefined || value === null) return {};
  const entries = typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : undefined;
  const texts = entries?.slice(0, MAX_METADATA).flatMap(([key, one]): [string, string][] => {
    const text = scalarText(one);
    return text === undefined ? [] : [[oneLine(key).slice(0, 100), oneLine(text).slice(0, 500).toWellFormed()]];
  });
  if (!texts || texts.length < (entries?.length ?? 0)) warn("FIELD_IGNORED", "metadata");
  return Object.fromEntries(texts ?? []);
}
