// Describes the results of tool calls in a sentence, for the demo model.
import { type DemoMessage, textOf, truncate } from "./demo-message.ts";

/** Describes the results of the latest tool calls. */
export function describeResults(messages: readonly DemoMessage[]): string {
  const from = messages.findLastIndex(({ role }) => role === "assistant");
  const results = messages.slice(from + 1).map(({ content }) => describeResult(textOf(content)));
  return results.join("\n");
}

/** Results of tools that are a sentence by themselves. */
const PLAIN_RESULTS: Readonly<Record<string, string>> = {
  "Nothing is remembered.": "I don't remember anything yet.",
  "There are no reminders.": "There are no reminders.",
};

function describeResult(result: string): string {
  const text = result.replace(/<\/?untrusted[^<>]*>/g, "").trim();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return PLAIN_RESULTS[text] ?? `Here is what I found: ${truncate(text, 600)}`;
  }
  if (typeof value !== "object" || value === null) return `Here is what I found: ${truncate(String(value), 600)}`;
  const fields = value as Record<string, unknown>;
  if (fields.remembered === true) return "Done, I'll remember that.";
  if (typeof fields.inWords === "string") return describeTime(fields.inWords, fields.text);
  if (Array.isArray(fields.facts)) return describeFacts(fields.facts, fields.note !== undefined);
  if (Array.isArray(fields.reminders)) return describeReminders(fields.reminders);
  if (typeof fields.error === "string") return `That didn't work: ${truncate(fields.error, 300)}`;
  const shown = Object.entries(fields)
    .filter(([key, item]) => key !== "id" && item !== null && typeof item !== "object")
    .map(([key, item]) => `${humanize(key)}: ${truncate(String(item), 200)}`);
  const listed = shown.length > 0 ? shown.join(", ") : truncate(JSON.stringify(value), 600);
  return `Here is what I got: ${listed}.`;
}

/** A reminder has a text; the clock has none. */
const describeTime = (inWords: string, reminderText: unknown) =>
  typeof reminderText === "string"
    ? `I'll remind you: ${truncate(reminderText, 200)} (${inWords}).`
    : `It is ${inWords}.`;

function describeReminders(reminders: unknown[]): string {
  const known = reminders.map(
    (one) => `${textOf(Reflect.get(Object(one), "text"))} (${Reflect.get(Object(one), "inWords")})`,
  );
  return `These reminders are to come: ${truncate(known.join("; "), 600)}.`;
}

/** @param isOther the facts are not about what was asked for */
function describeFacts(facts: unknown[], isOther: boolean): string {
  const known = facts.map((one) => (typeof one === "string" ? one : textOf(Reflect.get(Object(one), "fact"))));
  const listed = truncate(known.join("; "), 600);
  if (known.length === 0) return "I don't remember anything about that.";
  return isOther ? `I don't remember anything about that. But I remember: ${listed}.` : `I remember: ${listed}.`;
}

const humanize = (key: string) =>
  key
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
