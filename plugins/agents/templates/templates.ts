// The list of templates, and the configuration that a template and the caller's own settings make together.
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Language } from "../../../src/kernel/pages/language.ts";
import { serverTexts } from "../../../src/kernel/pages/translations.ts";
import { unknownName } from "../configuration/config-check.ts";
import { assistant } from "./assistant.ts";
import { communityModerator } from "./community-moderator.ts";
import { onCallHelper } from "./on-call-helper.ts";
import { researcher } from "./researcher.ts";
import { supportDesk } from "./support-desk.ts";
import type { AgentTemplate, NextStep } from "./template.ts";

/** In the order in which they are shown. */
export const TEMPLATES: readonly AgentTemplate[] = [
  assistant,
  supportDesk,
  researcher,
  communityModerator,
  onCallHelper,
];

export interface TemplateView {
  id: string;
  name: string;
  description: string;
  config: Record<string, unknown>;
  next: NextStep[];
}

/** A template as it is shown and used in one language. */
export function templateView({ id, texts, config, cron }: AgentTemplate, language: Language): TemplateView {
  const { name, description, instructions, schedule, next } =
    language === "en" ? texts : serverTexts(language).templates[id];
  const schedules = [{ ...schedule, cron, enabled: false }];
  return { id, name, description, config: { instructions, ...config, schedules }, next: [...next] };
}

/**
 * The text of a new agent's configuration: that of the template, changed by the caller's own as a merge patch (RFC 7396).
 * Throws 400 `UNKNOWN_TEMPLATE`.
 * @param own the caller's configuration as JSON text: an object of limited depth
 */
export function configOfTemplate(id: string, language: Language, own: string | undefined): string {
  const template = TEMPLATES.find((one) => one.id === id);
  if (!template) {
    const ids = TEMPLATES.map((one) => one.id);
    const message = unknownName(`There is no such template; there are: ${ids.join(", ")}.`, id, ids);
    throw invalidInput({ path: "template", message }, "UNKNOWN_TEMPLATE");
  }
  const { config } = templateView(template, language);
  return JSON.stringify(own === undefined ? config : mergePatch(config, JSON.parse(own)));
}

/** RFC 7396, section 2. Keys such as `__proto__` stay plain keys. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
