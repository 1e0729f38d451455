// Takes over character cards: V1, V2 (malfoyslastname/character-card-spec-v2) and V3 (kwaroran/character-card-spec-v3).
import { createDraft, type Draft, type Takeover } from "./draft.ts";
import { listAt, namesAt, textAt, textsAt, valueAt } from "./json-values.ts";

const SPECS = ["chara_card_v2", "chara_card_v3"];
const MAX_BOOK_ENTRIES = 2_000;

/** Whether parsed JSON is a card. V1 has no mark of its own: only its fields tell. */
export const isCharacterCard = (value: unknown): boolean =>
  SPECS.includes(textAt(value, "spec") ?? "") ||
  (["first_mes", "mes_example", "personality", "scenario"].some((field) => valueAt(value, field) !== undefined) &&
    textAt(value, "name") !== undefined);

export function takeOverCard(card: unknown, secretShapes: readonly RegExp[]): Takeover {
  const draft = createDraft("character-card", secretShapes);
  const data = SPECS.includes(textAt(card, "spec") ?? "") ? valueAt(card, "data") : card;
  const name = textAt(data, "name") ?? "Character";
  const spokenName = textAt(data, "nickname") ?? name;
  const text = (field: string) => replaceMacros(textAt(data, field) ?? "", spokenName);

  draft.setName("name", name);
  const parts: [field: string, heading: string | undefined][] = [
    ["system_prompt", undefined],
    ["description", `Who you are: ${spokenName}`],
    ["personality", "Your personality"],
    ["scenario", "The situation"],
    ["mes_example", "How you talk: examples"],
    ["post_history_instructions", "What else to keep in mind"],
  ];
  for (const [field, heading] of parts) if (text(field) !== "") draft.addInstructions(field, heading, text(field));
  if (text("first_mes") !== "") draft.setGreeting("first_mes", text("first_mes"));
  takeOverBook(draft, valueAt(data, "character_book"), spokenName);

  const greetings = textsAt(data, "alternate_greetings").length + textsAt(data, "group_only_greetings").length;
  if (greetings > 0) draft.report.left("alternate_greetings", "NO_EQUIVALENT", greetings);
  for (const field of ["creator_notes", "creator", "character_version", "source"]) {
    if (textsAt(data, field).length > 0) draft.report.left(field, "FOR_PEOPLE");
  }
  if (listAt(data, "tags").length > 0) draft.report.left("tags", "FOR_PEOPLE", listAt(data, "tags").length);
  if (listAt(data, "assets").length > 0) draft.report.left("assets", "PICTURES", listAt(data, "assets").length);
  const extensions = namesAt(data, "extensions");
  if (extensions.length > 0) draft.report.left("extensions", "NO_EQUIVALENT", extensions.length);
  return draft.finish();
}

/** Entries of the book that are on become memories: an agent finds them by their words, as the card's program did. */
function takeOverBook(draft: Draft, book: unknown, name: string): void {
  const entries = listAt(book, "entries");
  if (entries.length === 0) return;
  const facts = entries.slice(0, MAX_BOOK_ENTRIES).flatMap((entry) => {
    const content = withoutDecorators(replaceMacros(textAt(entry, "content") ?? "", name));
    if (content === "" || valueAt(entry, "enabled") === false) return [];
    const keys = textsAt(entry, "keys").slice(0, 10).join(", ").slice(0, 200);
    return [keys === "" ? content : `${keys}: ${content}`];
  });
  draft.addMemories("character_book", facts);
}

/** Lines such as `@@depth 4` tell the card's program where to put an entry. */
const withoutDecorators = (text: string) =>
  text
    .split("\n")
    .filter((line) => !line.startsWith("@@"))
    .join("\n")
    .trim();

const replaceMacros = (text: string, name: string) =>
  text
    .replace(/\{\{char\}\}|<(?:BOT|CHAR)>/gi, () => name)
    .replace(/\{\{user\}\}|<USER>/gi, "the user")
    .replace(/\{\{original\}\}/gi, "")
    .replace(/<START>/gi, "---")
    .trim();
