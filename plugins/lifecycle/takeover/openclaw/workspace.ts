// Takes over an OpenClaw workspace (docs.openclaw.ai/concepts/agent-workspace), alone or within its state folder.
import { zipSync } from "fflate";
import type { UnpackedFile } from "../../../../src/kernel/util/zip/unzip.ts";
import { createDraft, type Draft, type Takeover } from "../draft.ts";
import { factsOf, withoutComments } from "../facts.ts";
import { takeOverConfiguration } from "./configuration.ts";
import { takeOverCronJobs } from "./cron-jobs.ts";

const MARKERS = /^(.*\/)?(?:AGENTS|SOUL|IDENTITY)\.md$/;
const PREFACE =
  "These instructions come from an OpenClaw workspace. Where they speak of files such as MEMORY.md, use your memory. Where they name tools that you don't have, do without them.";

/** Parts of the instructions, in the order in which OpenClaw puts them into its prompt. */
const PARTS: readonly [file: string, heading: string][] = [
  ["AGENTS.md", "How you work"],
  ["SOUL.md", "Who you are"],
  ["IDENTITY.md", "Your identity"],
  ["USER.md", "About the person you work for"],
];

/** The folders of workspaces in it, the one to take first: "" or a path with a final slash. */
export function workspacesOf(paths: readonly string[]): string[] {
  const found = new Set(
    paths.flatMap((path) => {
      const root = MARKERS.exec(path);
      return root && !/(?:^|\/)(?:skills|memory)\//.test(path) ? [root[1] ?? ""] : [];
    }),
  );
  const rank = (root: string) => (/(?:^|\/)workspace\/$/.test(root) ? 0 : root.split("/").length);
  return [...found].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

/** @param files those of the folder that are wanted, with at least one workspace */
export async function takeOverWorkspace(
  files: readonly UnpackedFile[],
  secretShapes: readonly RegExp[],
): Promise<Takeover> {
  const draft = createDraft("openclaw", secretShapes);
  const { report } = draft;
  const [root = "", ...others] = workspacesOf(files.map(({ path }) => path));
  const textIn = createTextReader(files, draft);
  const inRoot = (name: string) => textIn(`${root}${name}`);

  const identity = inRoot("IDENTITY.md");
  const name = identity === undefined ? undefined : nameIn(identity);
  if (name !== undefined) draft.setName("IDENTITY.md", name);

  const parts = PARTS.flatMap(([file, heading]) => {
    const text = file === "IDENTITY.md" ? identity : inRoot(file);
    return text === undefined ? [] : [{ file, heading, text: withoutComments(text) }];
  });
  if (parts.length > 0) draft.addPreface(PREFACE);
  for (const { file, heading, text } of parts) draft.addInstructions(file, heading, text);

  takeOverMemories(draft, root, files, textIn);
  const heartbeat = inRoot("HEARTBEAT.md");
  if (heartbeat !== undefined) takeOverHeartbeat(draft, withoutComments(heartbeat));
  if (inRoot("TOOLS.md") !== undefined) report.left("TOOLS.md", "MACHINE");
  for (const file of ["BOOT.md", "BOOTSTRAP.md"]) if (inRoot(file) !== undefined) report.left(file, "FIRST_RUN");
  for (const [folder, zip] of skillsIn(files, root)) draft.addSkill(folder, zip);
  for (const other of others) report.left(other, "OTHER_WORKSPACE");

  const configuration = files.find(({ path }) => /(?:^|\/)openclaw\.json$/.test(path));
  if (configuration) takeOverConfiguration(draft, textIn(configuration.path) ?? "");
  else report.left("openclaw.json", "CONFIG_OUTSIDE");
  const jobs = files.find(({ path }) => /(?:^|\/)cron\/(?:jobs|cron)\.json$/.test(path));
  if (jobs) await takeOverCronJobs(draft, textIn(jobs.path) ?? "");
  return draft.finish();
}

/** Reads texts by path; reports those that are no UTF-8. */
function createTextReader(files: readonly UnpackedFile[], { report }: Draft) {
  const byPath = new Map(files.map(({ path, bytes }) => [path, bytes]));
  return (path: string): string | undefined => {
    const bytes = byPath.get(path);
    if (bytes === undefined) return undefined;
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
    } catch {
      report.left(path, "UNREADABLE");
      return undefined;
    }
  };
}

/** `- **Name:** Clawd`, `Name: Clawd`. Templates have a hint in italics there. */
function nameIn(identity: string): string | undefined {
  for (const line of identity.split("\n").slice(0, 200)) {
    const value = /^[\s>*-]*name[\s:*]*:[\s*]*(\S.*)$/i
      .exec(line.slice(0, 300))?.[1]
      ?.replace(/[*_`]+$/, "")
      .trim();
    if (value && !/^[_*(]/.test(value)) return value;
  }
  return undefined;
}

function takeOverMemories(
  draft: Draft,
  root: string,
  files: readonly UnpackedFile[],
  textIn: (path: string) => string | undefined,
): void {
  const longTerm = textIn(`${root}MEMORY.md`);
  if (longTerm !== undefined) draft.addMemories("MEMORY.md", factsOf(longTerm));
  const notes = files.filter(({ path }) => path.startsWith(`${root}memory/`) && path.endsWith(".md"));
  // The newest notes first: they are called by their day, and the room is limited.
  for (const { path } of notes.sort((one, other) => (one.path < other.path ? 1 : -1))) {
    const text = textIn(path);
    const file = path.slice(root.length);
    if (text !== undefined) draft.addMemories(file, factsOf(text, /\d{4}-\d\d-\d\d/.exec(file)?.[0]));
  }
}

/** OpenClaw reads this list every half an hour, unless it is empty but for headings. */
function takeOverHeartbeat(draft: Draft, text: string): void {
  const prompt = text
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .join("\n");
  const schedule = { name: "Heartbeat", prompt, cron: "*/30 * * * *", at: null, timezone: "UTC" };
  draft.addSchedule("HEARTBEAT.md", schedule);
}

/** A zip for each folder of `skills/` with a SKILL.md. */
function skillsIn(files: readonly UnpackedFile[], root: string): [folder: string, zip: Uint8Array][] {
  const start = `${root}skills/`;
  const folders = Map.groupBy(
    files.filter(({ path }) => path.startsWith(start)),
    ({ path }) => path.slice(start.length).split("/")[0] ?? "",
  );
  return [...folders].flatMap(([folder, inside]): [string, Uint8Array][] => {
    if (!inside.some(({ path }) => path === `${start}${folder}/SKILL.md`)) return [];
    const entries = inside.map(({ path, bytes }) => [path.slice(start.length), bytes] as const);
    return [[folder, zipSync(Object.fromEntries(entries), { level: 1 })]];
  });
}
