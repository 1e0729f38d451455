// What the demo model says: a few rules over the conversation, in the order in which they are tried.

export interface DemoMessage {
  role: string;
  content?: unknown;
}

export interface DemoTool {
  name: string;
  parameters?: { properties?: Record<string, { type?: unknown; enum?: unknown[] }> };
}

export interface Thought {
  text: string;
  calls: { name: string; input: Record<string, unknown> }[];
}

/** What is known when a rule is asked. */
interface Scene {
  /** The newest thing the user said. */
  said: string;
  /** What the user said before, oldest first. */
  before: string[];
  /** The user's name, if it came up in the conversation or in the prompt. */
  name: string | undefined;
  tools: readonly DemoTool[];
}

type Rule = (scene: Scene) => string | Thought | undefined;

const WHO = "I'm Berth's built-in demo model: a handful of rules, no language model, and free of charge.";
const KEY_HINT =
  "(This is the demo model. For a real one, start Berth with PROVIDER_1_API_KEY=…, or give this agent a key of its own with set-credential.)";

/** The next message of the assistant. The same messages and tools always give the same thought. */
export function think(messages: readonly DemoMessage[], tools: readonly DemoTool[]): Thought {
  const last = messages.at(-1);
  const users = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
  const scene: Scene = {
    said: (users.at(-1) ?? "").trim(),
    before: users.slice(0, -1),
    name: nameIn([...users].reverse(), messages),
    tools,
  };
  const first = !messages.some(({ role, content }) => role === "assistant" && textOf(content) !== "");
  if (last?.role === "tool") return withHint(speak(resultsIn(messages)), first);
  for (const rule of RULES) {
    const thought = rule(scene);
    if (thought === undefined) continue;
    return typeof thought === "string" ? withHint(speak(thought), first) : thought;
  }
  return withHint(speak(fallback(scene)), first);
}

const speak = (text: string): Thought => ({ text, calls: [] });
const withHint = (thought: Thought, first: boolean) => (first ? speak(`${thought.text}\n\n${KEY_HINT}`) : thought);

const RULES: readonly Rule[] = [
  ({ said, tools }) => {
    const reminder = /^\[A reminder you set is due now\.[^\]]*\]\s*(.+)$/s.exec(said)?.[1];
    if (reminder) return `⏰ You asked me to remind you: ${reminder}`;
    const [, amount, unit, text] =
      /\bremind me in (\d+|an?|one) (second|minute|hour|day)s?(?: to| that| about)? (.+)/is.exec(said) ?? [];
    if (!amount || !unit || !text) return undefined;
    const tool = find(tools, /^(?!.*(?:list|cancel|delete)).*remind/i);
    if (!tool) return "I'd like to remind you, but the reminder skill is off.";
    return call(tool, { text: trimmed(text), minutes: (Number(amount) || 1) * (MINUTES[unit.toLowerCase()] ?? 1) });
  },
  ({ said, tools }) => {
    const fact = /\b(?:please )?remember(?: that|:)? (?!me\b|my name\?)(.+)/is.exec(said)?.[1];
    if (!fact || said.endsWith("?")) return undefined;
    const tool = find(tools, /remember|memory/i);
    if (!tool) return `I'll keep in mind for this conversation that ${trimmed(fact)}. (The memory skill is off.)`;
    return call(tool, { text: trimmed(fact), action: "remember" });
  },
  ({ said, tools }) => {
    const about = /\bwhat do you (?:remember|know) about (.+?)\??$/is.exec(said)?.[1];
    const tool = about && find(tools, /recall|search_memor/i);
    return tool ? call(tool, { text: trimmed(about) }) : undefined;
  },
  ({ said, tools }) => {
    const url = /https?:\/\/[^\s<>"')\]]+/i.exec(said)?.[0];
    if (!url) return undefined;
    const tool = find(tools, /fetch|browse|read_url/i);
    return tool
      ? call(tool, { url: url.replace(/[.,;!?]+$/, "") })
      : "I can't open web pages: the web fetch skill is off.";
  },
  ({ said, tools }) => {
    if (!/\bwhat(?:'s| is)? (?:the )?(?:time|date|day)\b|\bwhat (?:time|date|day) is it\b|\btime is it\b/i.test(said))
      return undefined;
    const tool = find(tools, /clock|time|date/i);
    return tool ? call(tool, {}) : "I don't have a clock: the clock skill is off.";
  },
  ({ said }) =>
    /\b(?:who|what) are you\b|\bare you (?:a |an )?(?:bot|ai|human|real|gpt|claude|demo)/i.test(said) ? WHO : undefined,
  ({ said, name }) => {
    if (!/\bwhat(?:'s| is) my name\b|\bdo you (?:know|remember) (?:my name|me)\b|\bwho am i\b/i.test(said))
      return undefined;
    return name ? `Your name is ${name}.` : "You haven't told me your name yet.";
  },
  ({ said }) => {
    const name = nameIn([said], []);
    return name && `Nice to meet you, ${name}! I'll remember your name in this conversation.`;
  },
  ({ said, before }) => {
    if (!/\bwhat did i (?:just )?(?:say|ask|write|tell)/i.test(said)) return undefined;
    const previous = before.at(-1);
    return previous ? `You said: “${clip(previous, 200)}”` : "That was the first thing you said to me.";
  },
  ({ said }) => {
    const [, left, sign, right] =
      /(-?\d{1,9}(?:\.\d{1,6})?)\s*([-+*x×/÷])\s*(-?\d{1,9}(?:\.\d{1,6})?)/.exec(said) ?? [];
    if (!left || !sign || !right) return undefined;
    const result = SUMS[sign]?.(Number(left), Number(right));
    return Number.isFinite(result)
      ? `${left} ${sign} ${right} = ${Number(result?.toPrecision(12))}`
      : "Nobody can divide by zero.";
  },
  ({ said, tools }) => {
    if (!/^\W*help\b|\bwhat can you do\b/i.test(said)) return undefined;
    const skills = tools.map(({ name }) => `\`${name}\``).join(", ");
    return `${WHO} ${skills ? `I can use these tools: ${skills}.` : "I have no tools here."} Try “what time is it”, “remember that I like tea”, “remind me in 1 minute to stretch”, or send me a link.`;
  },
  ({ said }) =>
    /\b(?:tell|know).*\bjoke\b/i.test(said)
      ? "Why did the ship's log grow so long? Nobody ever told it to berth."
      : undefined,
  ({ said }) => (/^\W*(?:thanks|thank you|thx|cheers)\b/i.test(said) ? "You're welcome!" : undefined),
  ({ said }) => (/^\W*(?:bye|goodbye|see you|good night)\b/i.test(said) ? "Fair winds, and see you soon!" : undefined),
  ({ said, name }) =>
    /^\W*(?:hi|hello|hey|hiya|howdy|ahoy|moin|good (?:morning|afternoon|evening))\b/i.test(said)
      ? `Hello${name ? `, ${name}` : ""}! What can I do for you?`
      : undefined,
];

const MINUTES: Readonly<Record<string, number>> = { second: 1 / 60, minute: 1, hour: 60, day: 1_440 };
const SUMS: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  x: (a, b) => a * b,
  "×": (a, b) => a * b,
  "/": (a, b) => a / b,
  "÷": (a, b) => a / b,
};

function fallback({ said, name, before }: Scene): string {
  if (said === "") return "I'm listening.";
  const you = name ? `${name}, you` : "You";
  const more = before.length > 0 ? ` That was message number ${before.length + 1} of yours here.` : "";
  return `${you} said: “${clip(said, 300)}”${more} I'm only a demo, so I can't say anything clever about it. Ask me for “help” to see what I can do.`;
}

/** The tools' results since the assistant called them, in a friendly sentence. */
function resultsIn(messages: readonly DemoMessage[]): string {
  const from = messages.findLastIndex(({ role }) => role === "assistant");
  const results = messages.slice(from + 1).map(({ content }) => sentenceFor(textOf(content)));
  return results.join("\n");
}

function sentenceFor(result: string): string {
  const text = result.replace(/<\/?untrusted[^>]*>/g, "").trim();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `Here is what I found: ${clip(text, 600)}`;
  }
  if (typeof value !== "object" || value === null) return `Here is what I found: ${clip(String(value), 600)}`;
  const fields = value as Record<string, unknown>;
  if (fields.remembered === true) return "Done, I'll remember that.";
  if (typeof fields.inWords === "string") return `It is ${fields.inWords}.`;
  if (Array.isArray(fields.facts)) return remembered(fields.facts);
  if (typeof fields.error === "string") return `That didn't work: ${clip(fields.error, 300)}`;
  const shown = Object.entries(fields)
    .filter(([key, item]) => key !== "id" && item !== null && typeof item !== "object")
    .map(([key, item]) => `${words(key)}: ${clip(String(item), 200)}`);
  const listed = shown.length > 0 ? shown.join(", ") : clip(JSON.stringify(value), 600);
  return `Here is what I got: ${listed}.`;
}

function remembered(facts: unknown[]): string {
  const known = facts.map((one) => (typeof one === "string" ? one : textOf(Reflect.get(Object(one), "fact"))));
  return known.length === 0 ? "I don't remember anything about that." : `I remember: ${clip(known.join("; "), 600)}.`;
}

const words = (key: string) =>
  key
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();

const find = (tools: readonly DemoTool[], pattern: RegExp) => tools.find(({ name }) => pattern.test(name));

/** A call whose arguments fit the tool's schema as far as their names and types tell. */
function call(tool: DemoTool, wanted: { text?: string; url?: string; minutes?: number; action?: string }): Thought {
  const input: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(tool.parameters?.properties ?? {})) {
    const value = argument(key, schema, wanted);
    if (value !== undefined) input[key] = value;
  }
  return { text: "", calls: [{ name: tool.name, input }] };
}

function argument(
  key: string,
  { type, enum: choices }: { type?: unknown; enum?: unknown[] },
  { text, url, minutes, action }: Parameters<typeof call>[1],
): unknown {
  if (choices) return choices.find((choice) => choice === action || (action && /save|add|store/i.test(String(choice))));
  if (/^(?:url|uri|link|address)$/i.test(key)) return url;
  if (type === "string" && /^(?:fact|text|content|message|query|about|what|value)$/i.test(key)) return text;
  if (minutes === undefined || (type !== "number" && type !== "integer")) return undefined;
  if (/minutes/i.test(key)) return type === "integer" ? Math.max(1, Math.round(minutes)) : minutes;
  return /seconds/i.test(key) ? Math.round(minutes * 60) : undefined;
}

/** The newest “my name is …” (or “call me …”), else what the prompt remembers of the user's name. */
function nameIn(newestFirst: readonly string[], messages: readonly DemoMessage[]): string | undefined {
  const OWN = /\b(?:my name is|my name's|call me|i am called)\s+(\p{Lu}[\p{L}'’-]{0,40}|\p{Ll}[\p{L}'’-]{1,40})/iu;
  for (const said of newestFirst) {
    const name = OWN.exec(said)?.[1];
    if (name) return name.charAt(0).toUpperCase() + name.slice(1);
  }
  const prompt = messages.filter(({ role }) => role === "system" || role === "developer");
  const known = prompt.map(({ content }) => /\bname (?:is|=|:)\s*(\p{Lu}[\p{L}'’-]{0,40})/u.exec(textOf(content))?.[1]);
  return known.find(Boolean);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) =>
      typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? part.text : "",
    )
    .join("");
}

const trimmed = (text: string) => text.trim().replace(/[.!\s]+$/, "");
const clip = (text: string, most: number) => (text.length > most ? `${text.slice(0, most).trimEnd()}…` : text);
