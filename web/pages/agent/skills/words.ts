// The words for what skills and tools may do, and the texts of the built-in skills.

import {
  AlarmClock,
  BookOpen,
  BrainCircuit,
  CalendarClock,
  Clock,
  Eye,
  FilePen,
  Files,
  Globe,
  HandCoins,
  ImagePlus,
  type LucideIcon,
  MessagesSquare,
  PenLine,
  Puzzle,
  Search,
  Send,
  Split,
  SquareTerminal,
  Wallet,
} from "lucide-react";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import type { Tone } from "../../../parts/values/status.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";

export type ToolClass = "read" | "write" | "spend" | "outside";
export type Approval = "allow" | "ask" | "deny";

/** An item of `GET /api/agents/:id/skills`. */
export interface Skill {
  id: string;
  name: string;
  description: string;
  version: string;
  enabled: boolean;
  decidedBy: "owner" | "config" | "default";
  permissions: ToolClass[];
  source: string;
  untrusted: boolean;
  /** False if something has to be set up first. */
  isReady: boolean;
  tools: { name: string; description: string; class: ToolClass; ownerOnly: boolean }[];
}

interface ClassWords {
  id: ToolClass;
  label: Text;
  hint: Text;
  tone: Tone;
  Icon: LucideIcon;
}

/** From the harmless to the dangerous. */
export const CLASSES: readonly ClassWords[] = [
  { id: "read", label: text("Reads"), hint: text("Looks something up and changes nothing."), tone: "idle", Icon: Eye },
  {
    id: "write",
    label: text("Changes its own data"),
    hint: text("Writes facts, reminders and schedules of this agent."),
    tone: "busy",
    Icon: PenLine,
  },
  {
    id: "spend",
    label: text("Spends money"),
    hint: text("Moves money from your wallet."),
    tone: "bad",
    Icon: HandCoins,
  },
  {
    id: "outside",
    label: text("Acts outside"),
    hint: text("Sends something to somebody, or changes something elsewhere."),
    tone: "warn",
    Icon: Send,
  },
];

export const classWords = (id: ToolClass): ClassWords | undefined => CLASSES.find((one) => one.id === id);

interface SkillWords {
  Icon: LucideIcon;
  name: Text;
  description: Text;
  needs?: Text;
}

const BUILT_IN: Readonly<Record<string, SkillWords>> = {
  clock: {
    Icon: Clock,
    name: text("Clock"),
    description: text("Knows the time in every zone and calculates with dates."),
  },
  memory: {
    Icon: BrainCircuit,
    name: text("Memory"),
    description: text("Remembers facts over conversations and finds them again."),
  },
  "web-fetch": {
    Icon: Globe,
    name: text("Web pages"),
    description: text("Reads a web page, PDF or DOCX at an address. What it reads is marked as untrusted."),
    needs: text("a server that reaches the internet."),
  },
  "web-search": {
    Icon: Search,
    name: text("Web search"),
    description: text("Searches the web and names its sources. What it finds is marked as untrusted."),
    needs: text("a key of Brave Search or Tavily, or the address of a SearXNG."),
  },
  delegate: {
    Icon: Split,
    name: text("Delegate"),
    description: text("Works on several parts of a task at once. Each part only reads, and costs calls of the model."),
  },
  agents: {
    Icon: MessagesSquare,
    name: text("Other agents"),
    description: text("Asks your other agents, and agents of others here that talk to visitors."),
  },
  "run-code": {
    Icon: SquareTerminal,
    name: text("Run code"),
    description: text("Computes with JavaScript in a closed sandbox, and reads the files that people send."),
  },
  pictures: {
    Icon: ImagePlus,
    name: text("Pictures"),
    description: text("Makes pictures with an image model and sends them. Each costs a few cents of the budget."),
    needs: text("a key of OpenAI or Google Gemini, or a model for pictures that the server names."),
  },
  documents: {
    Icon: FilePen,
    name: text("Documents"),
    description: text("Writes PDF, Word, HTML, Markdown and CSV files, and sends them."),
  },
  reminder: {
    Icon: AlarmClock,
    name: text("Reminders"),
    description: text("Comes back to something once, in the same conversation, at the time that you say."),
  },
  schedule: {
    Icon: CalendarClock,
    name: text("Schedules"),
    description: text("Does something again and again: “every weekday at eight, tell me the weather.”"),
  },
  files: {
    Icon: Files,
    name: text("Files"),
    description: text("Searches the files that you give it, and names file and page."),
    needs: text("a file: give it some under Memory, or send one in a chat and say “Keep this.”"),
  },
  wallet: {
    Icon: Wallet,
    name: text("Wallet"),
    description: text("Sends from your wallet, trades and pays for web content, within your limits."),
    needs: text("a wallet with money in it, and limits that you set on the wallet's page."),
  },
};

/** The name and description in the viewer's language; skills from elsewhere have only their own. */
export function skillWords({ id, name, description, source }: Skill): {
  name: string;
  description: string;
  needs: string | undefined;
  Icon: LucideIcon;
} {
  const words = source === "built-in" ? BUILT_IN[id] : undefined;
  if (!words) {
    const Icon = source === "installed" || source === "shared" ? BookOpen : Puzzle;
    return { name: visibleText(name), description: visibleText(description), needs: undefined, Icon };
  }
  return {
    name: t(words.name),
    description: t(words.description),
    needs: words.needs && t(words.needs),
    Icon: words.Icon,
  };
}
