// Fills in the omitted fields of a request about a schedule.

import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import { toStorableText } from "../../src/kernel/util/text/storable-text.ts";

const MAX_NAME_FROM_PROMPT = 60;

/** The given name, else the beginning of the prompt. */
export function nameFor(name: string | undefined, prompt: string): string {
  const given = name === undefined ? "" : toStorableText(oneLine(name)).trim();
  if (given !== "") return given;
  const start = [...toStorableText(oneLine(prompt)).trim()];
  return start.length <= MAX_NAME_FROM_PROMPT
    ? start.join("")
    : `${start.slice(0, MAX_NAME_FROM_PROMPT - 1).join("")}…`;
}
