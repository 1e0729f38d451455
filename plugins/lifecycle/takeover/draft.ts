// Collects what is taken over from another program, and makes an exported agent of it: then the rules of imports hold.
import { createRedactor, REDACTED } from "../../../src/kernel/telemetry/redact.ts";
import { toStorableText } from "../../../src/kernel/util/text/storable-text.ts";
import { EXPORT_FORMAT, type ExportedAgent } from "../import-export/export-format.ts";
import { createReport } from "./report.ts";

/** Characters of the instructions: a configuration has 64 KiB, and a character up to six bytes there. */
const MAX_INSTRUCTIONS = 40_000;
const MAX_INSTRUCTION_BYTES = 56 * 1024;
/** Characters of one part of them. */
const MAX_PART = 20_000;
const MAX_MEMORIES = 1_000;
const MAX_SCHEDULES = 100;
const MAX_SKILLS = 50;
const MAX_GREETING = 500;

type Schedule = NonNullable<ExportedAgent["schedules"]>[number];

/** What a program's files became. */
export interface Takeover {
  /** The program or format, such as `openclaw`. */
  format: TakeoverFormat;
  agent: ExportedAgent;
  /** Members of `channels` in the configuration, which have only allow lists. */
  allowLists: Record<string, { allow: string[] }>;
  /** Zips of skills with a SKILL.md, by the name of their folder. */
  skills: { name: string; zip: Uint8Array }[];
  rows: ReturnType<typeof createReport>["rows"];
}

export type TakeoverFormat = "openclaw" | "elizaos" | "character-card";

export type Draft = ReturnType<typeof createDraft>;

/** @param secretShapes patterns of secrets, which are blacked out in all texts */
export function createDraft(format: TakeoverFormat, secretShapes: readonly RegExp[], now = Date.now()) {
  const report = createReport();
  const redactor = createRedactor();
  for (const { source, flags } of secretShapes) {
    redactor.addPattern(new RegExp(source, flags.includes("g") ? flags : `${flags}g`));
  }
  const parts: string[] = [];
  const memories: string[] = [];
  const schedules: Schedule[] = [];
  const skills: Takeover["skills"] = [];
  const allowLists: Takeover["allowLists"] = {};
  const config: Record<string, string> = {};
  let [name, greeting, length, secrets] = ["", "", 0, 0];

  function clean(text: string): string {
    const before = text.split(REDACTED).length;
    const redacted = redactor.redact(toStorableText(text));
    secrets += Math.max(0, redacted.split(REDACTED).length - before);
    return redacted.toWellFormed();
  }

  return {
    report,
    setName(source: string, given: string): void {
      const oneLine = clean(given)
        .replace(/\p{C}|\s+/gu, " ")
        .trim();
      const short = [...oneLine].slice(0, 64).join("").trim();
      if (name !== "" || short === "") return;
      name = short;
      report.took(source, "NAME");
    },
    /** Adds a sentence of Berth's own to the instructions. */
    addPreface(text: string): void {
      parts.push(text);
      length += text.length;
    },
    /** Adds a part of the instructions under a heading of its own. */
    addInstructions(source: string, heading: string | undefined, given: string): void {
      const text = clean(given).trim();
      if (text === "") return void report.left(source, "NOTHING_IN_IT");
      const room = Math.min(MAX_PART, MAX_INSTRUCTIONS - length);
      const kept = text.slice(0, Math.max(0, room)).toWellFormed();
      if (kept !== "") parts.push(heading === undefined ? kept : `# ${heading}\n\n${kept}`);
      length += kept.length;
      report.took(source, kept.length < text.length ? "CUT" : "INSTRUCTIONS");
    },
    addMemories(source: string, texts: readonly string[]): void {
      const known = new Set(memories);
      const added = [...new Set(texts.map((text) => clean(text).slice(0, 2_000).trim()))].filter(
        (text) => text !== "" && !known.has(text),
      );
      if (added.length === 0) return void report.left(source, "NOTHING_IN_IT");
      const kept = added.slice(0, MAX_MEMORIES - memories.length);
      memories.push(...kept);
      if (kept.length > 0) report.took(source, kept.length < added.length ? "SOME_MEMORIES" : "MEMORIES", kept.length);
      else report.left(source, "SOME_MEMORIES", added.length);
    },
    addSchedule(source: string, { name: title, prompt, ...when }: Omit<Schedule, "missed">): void {
      if (schedules.length >= MAX_SCHEDULES) return void report.left(source, "TOO_LARGE");
      const text = clean(prompt).trim().slice(0, 16_000);
      if (text === "") return void report.left(source, "NOTHING_IN_IT");
      schedules.push({ name: clean(title).trim().slice(0, 200) || "Schedule", prompt: text, ...when, missed: "once" });
      report.took(source, "SCHEDULE", 1);
    },
    addSkill(folder: string, zip: Uint8Array): void {
      if (skills.length >= MAX_SKILLS) return void report.left(folder, "TOO_LARGE");
      skills.push({ name: folder, zip });
    },
    setGreeting(source: string, given: string): void {
      greeting = clean(given).trim().slice(0, MAX_GREETING).toWellFormed();
      if (greeting !== "") report.took(source, "GREETING");
    },
    allow(source: string, channel: string, ids: string[]): void {
      if (ids.length === 0) return;
      allowLists[channel] = { allow: ids.slice(0, 1_000) };
      report.took(source, "ALLOW_LIST", ids.length);
    },
    set(source: string, key: "model" | "timezone", value: string): void {
      config[key] = value;
      report.took(source, key === "model" ? "MODEL" : "TIMEZONE");
    },
    finish(): Takeover {
      if (secrets > 0) report.left("all texts", "SECRETS_REMOVED", secrets);
      const time = new Date(now).toISOString();
      const agent: ExportedAgent = {
        format: EXPORT_FORMAT,
        name: name || "Imported agent",
        model: "model_a",
        config: { instructions: withinBytes(parts.join("\n\n")), ...config },
        memories: memories.map((content) => ({
          ...{ content, circle: "", source: "agent" as const, createdAt: time, updatedAt: time },
        })),
        schedules,
        ...(greeting !== "" && { publicPage: { enabled: false, greeting } }),
      };
      return { format, agent, allowLists, skills, rows: report.rows };
    },
  };
}

/** The beginning of a text that fits into a configuration as JSON. */
function withinBytes(text: string): string {
  let kept = text;
  while (Buffer.byteLength(JSON.stringify(kept)) > MAX_INSTRUCTION_BYTES) {
    kept = kept.slice(0, Math.floor(kept.length * 0.9)).toWellFormed();
  }
  return kept;
}
