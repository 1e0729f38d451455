// The messages that the demo model gets, and their texts.

export interface DemoMessage {
  role: string;
  content?: unknown;
}

/** The text of a content: of all its parts, if it is a list. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) =>
      typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? part.text : "",
    )
    .join("");
}

export const truncate = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most).trimEnd()}…` : text;
