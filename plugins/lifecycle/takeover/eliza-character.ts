// Takes over characters of elizaOS (docs.elizaos.ai/agents/character-interface), also of its first version.
import { createDraft, type Takeover } from "./draft.ts";
import { listAt, namesAt, textAt, textsAt, valueAt } from "./json-values.ts";
import { modelNamed } from "./model-names.ts";

/** Example conversations that are kept. */
const MAX_EXAMPLES = 20;

/** Whether parsed JSON is a character: `bio` is required there, and no other format has it. */
export const isElizaCharacter = (value: unknown): boolean =>
  textsAt(value, "bio").length > 0 && textAt(value, "name") !== undefined;

export function takeOverEliza(character: unknown, secretShapes: readonly RegExp[]): Takeover {
  const draft = createDraft("elizaos", secretShapes);
  const name = textAt(character, "name") ?? "Character";
  draft.setName("name", name);
  const system = textAt(character, "system");
  if (system !== undefined) draft.addInstructions("system", undefined, system);
  const lists: [heading: string, ...path: string[]][] = [
    [`Who you are: ${name}`, "bio"],
    ["Your story", "lore"],
    ["What you know about", "topics"],
    ["What you are like", "adjectives"],
    ["How you write", "style", "all"],
    ["How you write in chats", "style", "chat"],
  ];
  for (const [heading, ...path] of lists) {
    const texts = textsAt(character, ...path);
    if (texts.length > 0) draft.addInstructions(path.join("."), heading, texts.map((text) => `- ${text}`).join("\n"));
  }
  const examples = listAt(character, "messageExamples")
    .slice(0, MAX_EXAMPLES)
    .flatMap((one) => exampleOf(one, name));
  if (examples.length > 0)
    draft.addInstructions("messageExamples", "Examples of how you answer", examples.join("\n\n"));

  const knowledge = listAt(character, "knowledge");
  const facts = knowledge.flatMap((item) => (typeof item === "string" ? [item] : []));
  if (facts.length > 0) draft.addMemories("knowledge", facts);
  if (facts.length < knowledge.length) draft.report.left("knowledge", "FILES", knowledge.length - facts.length);
  takeOverModel(draft, character);

  const { report } = draft;
  const secrets = [...namesAt(character, "settings", "secrets"), ...namesAt(character, "secrets")];
  if (secrets.length > 0) report.left(`secrets: ${secrets.slice(0, 5).join(", ")}`, "SECRETS", secrets.length);
  const plugins = listAt(character, "plugins");
  if (plugins.length > 0) report.left("plugins", "PLUGINS", plugins.length);
  if (listAt(character, "clients").length > 0)
    report.left("clients", "CONNECT_ANEW", listAt(character, "clients").length);
  for (const path of [["postExamples"], ["style", "post"], ["templates"], ["settings", "voice"]]) {
    if (valueAt(character, ...path) !== undefined) report.left(path.join("."), "NO_EQUIVALENT");
  }
  const known = ["secrets", "voice", "model", "modelProvider"];
  const settings = namesAt(character, "settings").filter((setting) => !known.includes(setting));
  if (settings.length > 0) report.left("settings", "NO_EQUIVALENT", settings.length);
  return draft.finish();
}

/** A conversation: a list of messages, in newer versions under `examples`; the sender is `user`, or `name`. */
function exampleOf(example: unknown, name: string): string[] {
  const messages = Array.isArray(example) ? example : listAt(example, "examples");
  const lines = messages.slice(0, 20).flatMap((message) => {
    const text = textAt(message, "content", "text") ?? textAt(message, "content");
    const sender = textAt(message, "name") ?? textAt(message, "user") ?? "";
    return text === undefined ? [] : [`${sender === name ? "You" : "Somebody"}: ${text}`];
  });
  return lines.length > 0 ? [lines.join("\n")] : [];
}

function takeOverModel(draft: ReturnType<typeof createDraft>, character: unknown): void {
  const provider = textAt(character, "modelProvider") ?? textAt(character, "settings", "modelProvider");
  const model = textAt(character, "settings", "model");
  if (provider === undefined && model === undefined) return;
  const found = model === undefined ? undefined : modelNamed(model.includes("/") ? model : `${provider}/${model}`);
  if (found === undefined) draft.report.left(`modelProvider: ${provider ?? model}`, "UNKNOWN_MODEL");
  else draft.set("settings.model", "model", found);
}
