// Replies to a conversation by rules, which are tried in order; the first that matches wins.
import { defaultProvider } from "../providers/registry.ts";
import { type DemoMessage, textOf, truncate } from "./demo-message.ts";
import { describeResults } from "./demo-results.ts";

export interface DemoTool {
  name: string;
  parameters?: { properties?: Record<string, { type?: unknown; enum?: unknown[] }> };
}

export interface DemoReply {
  text: string;
  calls: { name: string; input: Record<string, unknown> }[];
}

/** The input of a rule. */
interface RuleInput {
  /** The user's latest message. */
  userMessage: string;
  /** The user's earlier messages, oldest first. */
  earlierMessages: string[];
  /** The user's name, if it came up in the conversation or in the prompt. */
  name: string | undefined;
  tools: readonly DemoTool[];
}

type Rule = (ruleInput: RuleInput) => string | DemoReply | undefined;

const SELF_DESCRIPTION = "I'm Berth's built-in demo model: a handful of rules, no language model, and free of charge.";
/** Names no setting, because strangers read it, too. The output of the start names the variable of the same provider. */
const KEY_HINT = `(This is the demo model. A real one answers as soon as this service, or this agent, has a key for an AI provider, such as ${defaultProvider.label}.)`;

/** Characters of a message that the rules read: the time of some patterns grows with the square of the length. */
const MAX_READ = 2_000;

/** The next message of the assistant, a pure function of messages and tools. */
export function replyTo(messages: readonly DemoMessage[], tools: readonly DemoTool[]): DemoReply {
  const last = messages.at(-1);
  const users = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content).slice(0, MAX_READ));
  const ruleInput: RuleInput = {
    userMessage: (users.at(-1) ?? "").trim(),
    earlierMessages: users.slice(0, -1),
    name: findUserName([...users].reverse(), messages),
    tools,
  };
  const isFirstReply = !messages.some(({ role, content }) => role === "assistant" && textOf(content) !== "");
  if (last?.role === "tool") return withHint(textReply(describeResults(messages)), isFirstReply);
  for (const rule of RULES) {
    const reply = rule(ruleInput);
    if (reply === undefined) continue;
    return typeof reply === "string" ? withHint(textReply(reply), isFirstReply) : reply;
  }
  return withHint(textReply(fallback(ruleInput)), isFirstReply);
}

const textReply = (text: string): DemoReply => ({ text, calls: [] });
const withHint = (reply: DemoReply, first: boolean) => (first ? textReply(`${reply.text}\n\n${KEY_HINT}`) : reply);

const RULES: readonly Rule[] = [
  ({ userMessage, tools }) => {
    const reminder = /^\[A reminder you set is due now\.[^\]]*\]\s*(.+)$/s.exec(userMessage)?.[1];
    if (reminder) return `⏰ You asked me to remind you: ${reminder}`;
    const [, amount, unit, text] =
      /\bremind me in (\d+|an?|one) (second|minute|hour|day)s?(?: to| that| about)? (.+)/is.exec(userMessage) ?? [];
    if (!amount || !unit || !text) return undefined;
    const tool = findTool(tools, /^(?!.*(?:list|cancel|delete)).*remind/i);
    if (!tool) return "I can't remind you here.";
    return callTool(tool, {
      text: trimEnding(text),
      minutes: (Number(amount) || 1) * (MINUTES[unit.toLowerCase()] ?? 1),
    });
  },
  ({ userMessage, tools }) => {
    if (!/\b(?:what|which|any|my|list|show)\b.*\breminders?\b/i.test(userMessage)) return undefined;
    const tool = findTool(tools, /list_reminders/i);
    return tool ? callTool(tool, {}) : "I have no reminders here.";
  },
  ({ userMessage, tools }) => {
    const question = /\bwhat (?:do|can) you (?:remember|know)(?: about (.+?))?[?.!\s]*$/is.exec(userMessage);
    if (!question) return undefined;
    const tool = findTool(tools, /recall|search_memor/i);
    return tool
      ? callTool(tool, { text: trimEnding(question[1] ?? "everything") })
      : "I remember nothing beyond this conversation: the memory skill is off.";
  },
  ({ userMessage, tools }) => {
    const fact = /(?<!\b(?:you|i|can't|don't) )\bremember(?: that|:)? (?!me\b|my name\?)(.+)/is.exec(userMessage)?.[1];
    if (!fact || userMessage.endsWith("?")) return undefined;
    const tool = findTool(tools, /remember|memory/i);
    if (!tool) return `I'll keep in mind for this conversation that ${trimEnding(fact)}. (The memory skill is off.)`;
    return callTool(tool, { text: trimEnding(fact), action: "remember" });
  },
  ({ userMessage, tools }) => {
    const url = /https?:\/\/[^\s<>"')\]]+/i.exec(userMessage)?.[0];
    if (!url) return undefined;
    const tool = findTool(tools, /fetch|browse|read_url/i);
    return tool
      ? callTool(tool, { url: url.replace(/[.,;!?]+$/, "") })
      : "I can't open web pages: the web fetch skill is off.";
  },
  ({ userMessage, tools }) => {
    if (
      !/\bwhat(?:'s| is)? (?:the )?(?:time|date|day)\b|\bwhat (?:time|date|day) is it\b|\btime is it\b/i.test(
        userMessage,
      )
    )
      return undefined;
    const tool = findTool(tools, /clock|time|date/i);
    return tool ? callTool(tool, {}) : "I don't have a clock: the clock skill is off.";
  },
  ({ userMessage }) =>
    /\b(?:who|what) are you\b|\bare you (?:a |an )?(?:bot|ai|human|real|gpt|claude|demo)/i.test(userMessage)
      ? SELF_DESCRIPTION
      : undefined,
  ({ userMessage, name }) => {
    if (!/\bwhat(?:'s| is) my name\b|\bdo you (?:know|remember) (?:my name|me)\b|\bwho am i\b/i.test(userMessage))
      return undefined;
    return name ? `Your name is ${name}.` : "You haven't told me your name yet.";
  },
  ({ userMessage }) => {
    const name = findUserName([userMessage], []);
    return name && `Nice to meet you, ${name}! I'll remember your name in this conversation.`;
  },
  ({ userMessage, earlierMessages }) => {
    if (!/\bwhat did i (?:just )?(?:say|ask|write|tell)/i.test(userMessage)) return undefined;
    const previous = earlierMessages.at(-1);
    return previous ? `You said: “${truncate(previous, 200)}”` : "That was the first thing you said to me.";
  },
  ({ userMessage }) => {
    const [, left, sign, right] =
      /(-?\d{1,9}(?:\.\d{1,6})?)\s*([-+*x×/÷])\s*(-?\d{1,9}(?:\.\d{1,6})?)/.exec(userMessage) ?? [];
    if (!left || !sign || !right) return undefined;
    const result = OPERATORS[sign]?.(Number(left), Number(right));
    return Number.isFinite(result)
      ? `${left} ${sign} ${right} = ${Number(result?.toPrecision(12))}`
      : "Nobody can divide by zero.";
  },
  ({ userMessage, tools }) => {
    if (!/^\W*help\b|\bwhat can you do\b/i.test(userMessage)) return undefined;
    const skills = tools.map(({ name }) => `\`${name}\``).join(", ");
    const examples = EXAMPLES.filter(([needed]) => findTool(tools, needed)).map(([, example]) => example);
    return [
      SELF_DESCRIPTION,
      skills ? `I can use these tools: ${skills}.` : "I have no tools here.",
      `Try ${new Intl.ListFormat("en", { type: "disjunction" }).format([...examples, "“what is 6 × 7?”"])}.`,
    ].join(" ");
  },
  ({ userMessage }) =>
    /\b(?:tell|know).*\bjoke\b/i.test(userMessage)
      ? "Why did the ship's log grow so long? Nobody ever told it to berth."
      : undefined,
  ({ userMessage }) => (/^\W*(?:thanks|thank you|thx|cheers)\b/i.test(userMessage) ? "You're welcome!" : undefined),
  ({ userMessage }) =>
    /^\W*(?:bye|goodbye|see you|good night)\b/i.test(userMessage) ? "Fair winds, and see you soon!" : undefined,
  ({ userMessage, name }) =>
    /^\W*(?:hi|hello|hey|hiya|howdy|ahoy|moin|good (?:morning|afternoon|evening))\b/i.test(userMessage)
      ? `Hello${name ? `, ${name}` : ""}! What can I do for you?`
      : undefined,
];

/** What `help` proposes, with the tool that each example needs. */
const EXAMPLES: readonly (readonly [tool: RegExp, example: string])[] = [
  [/clock/i, "“what time is it?”"],
  [/remember/i, "“remember that I like tea”"],
  [/recall/i, "“what do you remember about me?”"],
  [/remind_me/i, "“remind me in 1 minute to stretch”"],
  [/fetch/i, "a link to a web page"],
];

const MINUTES: Readonly<Record<string, number>> = { second: 1 / 60, minute: 1, hour: 60, day: 1_440 };
const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  x: (a, b) => a * b,
  "×": (a, b) => a * b,
  "/": (a, b) => a / b,
  "÷": (a, b) => a / b,
};

function fallback({ userMessage, name, earlierMessages }: RuleInput): string {
  if (userMessage === "") return "I'm listening.";
  const you = name ? `${name}, you` : "You";
  const more =
    earlierMessages.length > 0 ? ` That was message number ${earlierMessages.length + 1} of yours here.` : "";
  return `${you} said: “${truncate(userMessage, 300)}”${more} I'm only a demo, so I can't say anything clever about it. Ask me for “help” to see what I can do.`;
}

const findTool = (tools: readonly DemoTool[], pattern: RegExp) => tools.find(({ name }) => pattern.test(name));

/** A tool call whose arguments are matched to the tool's schema by name and type. */
function callTool(
  tool: DemoTool,
  wanted: { text?: string; url?: string; minutes?: number; action?: string },
): DemoReply {
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
  { text, url, minutes, action }: Parameters<typeof callTool>[1],
): unknown {
  if (choices) return choices.find((choice) => choice === action || (action && /save|add|store/i.test(String(choice))));
  if (/^(?:url|uri|link|address)$/i.test(key)) return url;
  if (type === "string" && /^(?:fact|text|content|message|query|about|what|value)$/i.test(key)) return text;
  if (minutes === undefined || (type !== "number" && type !== "integer")) return undefined;
  if (/minutes/i.test(key)) return type === "integer" ? Math.max(1, Math.round(minutes)) : minutes;
  return /seconds/i.test(key) ? Math.round(minutes * 60) : undefined;
}

/** The newest “my name is …” (or “call me …”), else what the prompt remembers of the user's name. */
function findUserName(newestFirst: readonly string[], messages: readonly DemoMessage[]): string | undefined {
  const OWN_NAME = /\b(?:my name is|my name's|call me|i am called)\s+(\p{Lu}[\p{L}'’-]{0,40}|\p{Ll}[\p{L}'’-]{1,40})/iu;
  for (const userMessage of newestFirst) {
    const name = OWN_NAME.exec(userMessage)?.[1];
    if (name) return name.charAt(0).toUpperCase() + name.slice(1);
  }
  const prompt = messages.filter(({ role }) => role === "system" || role === "developer");
  const known = prompt.map(({ content }) => /\bname (?:is|=|:)\s*(\p{Lu}[\p{L}'’-]{0,40})/u.exec(textOf(content))?.[1]);
  return known.find(Boolean);
}

const trimEnding = (text: string) => text.trim().replace(/[.!\s]+$/, "");
