// A template: a whole configuration to begin with, in the languages of the service.
import type { Language } from "../../../src/kernel/pages/language.ts";

export interface AgentTemplate {
  /** In requests and addresses; never changed once released. */
  id: string;
  texts: Readonly<Record<Language, TemplateTexts>>;
  /** The rest of the configuration, which is the same in every language. */
  config: Readonly<Record<string, unknown>>;
}

export interface TemplateTexts {
  name: string;
  /** One sentence: whom it is for and what it does. */
  description: string;
  /** The agent's instructions. */
  instructions: string;
}
