// The shape of a language's file. All of it is data, since the build embeds it as JSON.
import type { TemplateId, TemplateTexts } from "../../plugins/agents/templates/template.ts";
import type { MailName } from "../../plugins/auth/mails/mail-name.ts";

type Texts = Readonly<Record<string, string>>;

/** What the console shows. */
export interface ConsoleTexts {
  /** By the English text. */
  texts: Texts;
  /** Sentences of the server by their English form, grouped by the area that shows them. */
  server: Readonly<Record<string, Texts>>;
  /** The API's errors by code. */
  errors: Texts;
}

/** What the server writes itself. */
export interface ServerTexts {
  /**
   * Sentences that the server has made in English and chats say, about files and about missing replies. By the English form with
   * `{places}`; a place `{text}` is one of them itself. The console has them, too.
   */
  notes: Texts;
  /**
   * Calls that wait for their owner's approval, likewise. They have a table of their own, so that words that a call quotes can't be
   * taken for another sentence.
   */
  calls: Texts;
  /** Texts of pages, and words in mails, by the English text. May hold the same markup and `{places}`. */
  pages: Texts;
  /** The API's errors on pages, by code: on pages of accounts, and on pages for visitors of an agent. */
  pageErrors: Readonly<Record<"accounts" | "visitors", Texts>>;
  mails: Readonly<Record<MailName, string>>;
  templates: Readonly<Record<TemplateId, TemplateTexts>>;
}

export interface Translation extends ConsoleTexts, ServerTexts {}
