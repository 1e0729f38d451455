// Defines agent.json: an agent as a file that `berth deploy` applies. The rows validate the file and are its JSON schema.
import { mapChannels } from "../../../channels/registry.ts";
import type { Issue } from "../../../src/kernel/errors.ts";
import { unknownName } from "../configuration/config-check.ts";
import { findInvalidSchedule } from "../configuration/schedule-settings.ts";
import { findSecret } from "../configuration/secret-detection.ts";
import { readSettings, SETTINGS } from "../configuration/settings.ts";
import {
  boolean,
  check,
  deferred,
  described,
  InvalidSetting,
  listOf,
  mapOf,
  object,
  oneOf,
  type Reader,
  reader,
  reportUnknown,
  string,
} from "../configuration/value-readers.ts";
import { MODEL_CHOICES } from "../model-choices.ts";

/** Names a variable of the environment in which `berth deploy` runs. */
const REFERENCE = /^\$\{env:([A-Za-z_][A-Za-z0-9_]{0,127})\}$/;

const secret = check(
  { type: "string", pattern: REFERENCE.source },
  (value): value is string => typeof value === "string" && REFERENCE.test(value),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the form that the file has
  "Name a variable of the environment, as ${env:NAME}. The secret itself does not belong into a file.",
);

/** The same reader, which accepts null, too. */
const orNull = <Value>(of: Reader<Value>): Reader<Value | null> =>
  reader(
    () => ({ anyOf: [of.schema(), { type: "null" }] }),
    (value, path, onUnknown) => (value === null ? null : of(value, path, onUnknown)),
  );

const CONNECTION = object({
  token: described(secret, {
    description: "The bot's token, as a variable of the environment.",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    examples: ["${env:BOT_TOKEN}"],
  }),
  ownerId: described(string(100, 1), { description: "Your own id on the platform.", examples: ["42"] }),
});

const config = described(
  reader(
    () => ({ ...object(SETTINGS).schema(), additionalProperties: true }),
    (value, path, onUnknown) => {
      object({})(value, path);
      const given: object = Object(value);
      const { issues } = readSettings(given, (member) => onUnknown?.({ ...member, path: inside(path, member.path) }));
      const [first] = issues;
      if (first) throw new InvalidSetting(inside(path, first.path), first.message);
      requireNoReference(given, path);
      return given as Readonly<Record<string, unknown>>;
    },
  ),
  { description: "The whole configuration: instructions, skills, schedules, who may talk to it, and all else." },
);

/** The members of the file, in the order in which `berth pull` writes them. */
export const AGENT_FILE = {
  name: described(string(64, 1), {
    description: "The agent's name. A deployment changes the agent of this name, or makes one.",
    examples: ["Harbour"],
  }),
  model: described(oneOf(...MODEL_CHOICES), {
    description: "The model: one of the operator's two, or `custom` for the one that the configuration names.",
    examples: ["model_a"],
  }),
  running: described(boolean, { description: "Whether it runs. Left out: it stays as it is.", examples: [true] }),
  config,
  credentials: described(
    mapOf(orNull(secret), {
      max: 100,
      tooMany: "This must have at most 100 members.",
      names: /^(?:[A-Z][A-Z0-9_]{0,63}|provider_\d+)$/,
      invalidName: "A credential is the id of a provider, such as provider_1, or a name of your own in capitals.",
    }),
    {
      description:
        "Secrets of the agent: keys of providers by their ids, and others by names of your own in capitals. Null deletes one; those that are not named stay.",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
      examples: [{ provider_1: "${env:OPENROUTER_KEY}", DOCS_TOKEN: "${env:DOCS_TOKEN}" }],
    },
  ),
  channels: described(
    deferred(() => object(mapChannels(() => orNull(CONNECTION)))),
    {
      description: "The bots. Null disconnects one; those that are not named stay.",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
      examples: [{ channel_a: { token: "${env:TELEGRAM_TOKEN}" } }],
    },
  ),
  knowledge: described(listOf(string(500, 1), 200), {
    description:
      "Files that the agent knows, as paths or patterns beside this file. Changed ones replace those of the same name; others stay.",
    examples: [["handbook.pdf", "docs/*.md"]],
  }),
} satisfies Record<string, Reader<unknown>>;

export type AgentFile = { [Key in keyof typeof AGENT_FILE]?: ReturnType<(typeof AGENT_FILE)[Key]> };

/**
 * Reads a parsed file. All that is wrong is in `issues`, also members that the file can't have; `warnings` names keys of the
 * configuration that have no effect.
 */
export async function readAgentFile(value: unknown): Promise<{ file: AgentFile; issues: Issue[]; warnings: Issue[] }> {
  const file: AgentFile = {};
  const issues: Issue[] = [];
  const warnings: Issue[] = [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { file, issues: [{ path: "", message: "The file must hold one object." }], warnings };
  }
  for (const [key, read] of Object.entries(AGENT_FILE)) {
    if (!Object.hasOwn(value, key)) continue;
    try {
      const found = read(Reflect.get(value, key), key, ({ path, name, known }) => {
        if (key === "config") warnings.push({ path, message: unknownName("Nothing reads this key.", name, known) });
        else issues.push({ path, message: unknownName("There is no such member.", name, known) });
      });
      Object.assign(file, { [key]: found });
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      issues.push({ path: error.path, message: error.message });
    }
  }
  reportUnknown(value, "", [...Object.keys(AGENT_FILE), "$schema"], ({ path, name, known }) => {
    // What belongs into the configuration is easily written beside it.
    const isSetting = Object.hasOwn(SETTINGS, name);
    const text = isSetting ? "This belongs into config." : unknownName("There is no such member.", name, known);
    issues.push({ path, message: text });
  });
  if (!Object.hasOwn(value, "name")) issues.push({ path: "name", message: "Give the agent a name." });
  const { settings } = readSettings(file.config ?? {});
  const schedule = await findInvalidSchedule(settings.schedules ?? [], settings.timezone);
  if (schedule) issues.push({ ...schedule, path: `config.${schedule.path}` });
  const leaked = file.config && findSecret(file.config, [], "config");
  if (leaked)
    issues.push({ path: leaked, message: "This looks like a secret. Store it as a credential, and name it here." });
  return { file, issues, warnings };
}

/** The variable that a secret of the file names. */
export const variableOf = (reference: string): string => REFERENCE.exec(reference)?.[1] ?? "";

/** The reference to a variable, as the file holds it. */
export const referenceTo = (variable: string): string => `\${env:${variable}}`;

const inside = (path: string, rest: string) => (rest === "" || rest.startsWith("[") ? path + rest : `${path}.${rest}`);

/** A configuration is stored and shown in clear, so nothing of the environment is filled in. */
function requireNoReference(value: unknown, path: string): void {
  if (typeof value === "string" && value.includes("${env:")) {
    const text =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the forms that the file has
      "A configuration is stored as it is, so ${env:…} is not filled in. Give the secret under credentials, and name it here as ${credential:NAME}.";
    throw new InvalidSetting(path, text);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    requireNoReference(item, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
  }
}
