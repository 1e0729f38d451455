// What the chat on other sites says, in the visitor's language.
import type { Language } from "../../src/kernel/pages/language.ts";
import { pageText, translateText } from "../../src/kernel/pages/page-template.ts";
import { serverTexts } from "../../src/kernel/pages/translations.ts";
import type { Embedding } from "./embeddings.ts";
import type { ChatLook } from "./model.ts";

/** By the names that the script knows (web/embed/look.ts). A place `{name}` is filled by the script. */
const TEXTS = {
  open: pageText("Chat with {name}"),
  close: pageText("Close the chat"),
  fresh: pageText("Start over"),
  log: pageText("Conversation"),
  hello: pageText("Hello! How can I help you?"),
  message: pageText("Your message"),
  write: pageText("Write a message"),
  send: pageText("Send"),
  stop: pageText("Stop the answer"),
  stopped: pageText("The answer was stopped."),
  busy: pageText("{name} is still answering. Send this afterwards, or stop the answer."),
  you: pageText("You"),
  writing: pageText("{name} is writing …"),
  slow: pageText("This is taking longer than usual; the reply appears here when it is ready."),
  note: pageText("An AI answers here. It can be wrong."),
  offline: pageText("You are offline. Your message is kept, and sent when you are back."),
  away: pageText("The chat can't be reached right now. Your message is kept, and sent again in a moment."),
  gone: pageText("This chat is no longer available on this site."),
  failed: pageText("The agent could not be reached."),
  again: pageText("Try again"),
} as const;

export const textsIn = (language: Language): Record<string, string> =>
  Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, translateText(text, language)]));

/** The sentences of the API's errors; in English they have their own. */
const errorsIn = (language: Language): Record<string, string> =>
  language === "en" ? {} : { ...serverTexts(language).pageErrors.visitors };

export const lookOf = ({ agent, greeting, accent, theme }: Embedding, language: Language): ChatLook => ({
  name: agent.name,
  greeting,
  accent: accent ?? null,
  theme,
  language,
  texts: textsIn(language),
  errors: errorsIn(language),
});
