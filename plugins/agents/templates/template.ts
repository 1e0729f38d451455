// A template: a whole configuration to begin with, in English. The other languages have its texts in their files.

/** Never changed once released. */
export type TemplateId = "assistant" | "support-desk" | "researcher" | "community-moderator" | "on-call-helper";

export interface AgentTemplate {
  /** In requests and addresses. */
  id: TemplateId;
  texts: TemplateTexts;
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
