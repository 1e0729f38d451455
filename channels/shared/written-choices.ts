// Writes the answers that a message offers into its text, where they can't be buttons.
import type { Choice } from "../port.ts";

/** The text, and below it what to write for each answer, such as `/approve ABC`. */
export const withWrittenChoices = (text: string, choices: readonly Choice[]): string =>
  choices.length === 0 ? text : `${text}\n\n${choices.map((choice) => choice.text).join("\n")}`;
