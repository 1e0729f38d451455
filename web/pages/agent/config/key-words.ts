// The keys of a configuration in words.

import { type Text, t, text } from "../../../viewer/language.ts";

/** By path as the API writes it; what is below a path is called after it. */
const KEYS: Readonly<Record<string, Text>> = {
  instructions: text("Instructions"),
  model: text("Model"),
  temperature: text("Temperature"),
  topP: text("Choice of words (top p)"),
  maxTokens: text("Longest answer"),
  memory: text("Memory"),
  skills: text("Skills"),
  mcpServers: text("MCP servers"),
  remoteAgents: text("Agents of other hosts"),
  channels: text("Channels"),
  schedules: text("Schedules"),
  budget: text("Budget"),
  "budget.usdPerDay": text("Budget for a day"),
  "budget.usdPerMonth": text("Budget for a month"),
  approvals: text("What it may do without asking"),
  transcription: text("Recordings"),
  "transcription.when": text("When recordings are written down"),
  "transcription.model": text("Model for recordings"),
  "transcription.language": text("Spoken language"),
  voice: text("Spoken replies"),
  "voice.replies": text("When replies are spoken"),
  "voice.model": text("Model that speaks"),
  "voice.voice": text("Name of the voice"),
  pictures: text("Pictures"),
  "pictures.model": text("Model for pictures"),
  timezone: text("Time zone"),
};

/** "Budget for a day"; undefined for a key that Berth does not know. */
export function keyWords(path: string): string | undefined {
  const first = path.split(/[.[]/)[0] ?? "";
  const key = Object.hasOwn(KEYS, path) ? path : first;
  const words = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
  return words && t(words);
}
