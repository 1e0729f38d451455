// A template: a whole configuration to begin with, in the languages of the service.
import type { Language } from "../../../src/kernel/pages/language.ts";

export interface AgentTemplate {
  /** In requests and addresses; never changed once released. */
  id: string;
  texts: Readonly<Record<Language, TemplateTexts>>;
  /** The rest of the configuration, which is the same in every language. */
  config: Readonly<Record<string, unknown>>;
  /** When the example of a schedule runs, as a cron expression. It is off until the owner has read it. */
  cron: string;
}

export interface TemplateTexts {
  name: string;
  /** One sentence: whom it is for and what it does. */
  description: string;
  /** The agent's instructions. */
  instructions: string;
  /** The example of a schedule. */
  schedule: { name: string; prompt: string };
  /** What to do next, the most useful first. */
  next: readonly NextStep[];
}

export interface NextStep {
  /** The page of the agent in the console where it is done. */
  page: (typeof NEXT_PAGES)[number];
  text: string;
}
export const NEXT_PAGES = ["set-up", "channels", "skills", "memory", "schedules", "public"] as const;
