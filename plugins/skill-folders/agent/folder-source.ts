// The source of skills with a SKILL.md: offers them to agents, lists them in the prompt, and loads them on request.
//
// Whose words they are: a skill's author is unknown to Berth, and its owner has often not read it. So its name,
// description, instructions and files count as text from outside, and taint the turns of agents that have it switched on:
// all tools that act ask first. An owner who has read a version can mark it as trusted; its texts then count like the
// instructions that the owner wrote. The operator answers for the shared ones, as for plugins. `allowed-tools` is never
// used: a skill could otherwise allow itself what its owner forbade.
import { Type as t } from "@sinclair/typebox";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import type { Sandbox } from "../../sandbox/index.ts";
import {
  defineTool,
  type Instructions,
  type PromptContext,
  type Skill,
  type SkillSource,
  TAINT,
  type ToolContext,
  toolDeclined,
} from "../../skills/index.ts";
import { SKILL_FILE } from "../reading/text-file.ts";
import type { InstalledSkills } from "../store/installed-skills.ts";
import type { LoadedSkills } from "../store/loaded-skills.ts";
import type { SharedFolder, SharedFolders } from "../store/shared-folders.ts";
import type { InstalledSkill } from "../store/skill-rows.ts";
import { type FolderSkill, folderSkillId } from "./folder-skill.ts";
import { createScriptTool } from "./script-tool.ts";
import { part, skillList, skillText } from "./skill-text.ts";

/** Characters of all loaded skills in a prompt; of the others, the agent is told to load them again. */
const MAX_LOADED = 26_000;
/** Skills held in memory, over all accounts. */
const MAX_CACHED = 5_000;

/** A message that begins with the name of a skill, as platforms write commands: "/name", "/name@bot". */
const CALL = /^\/([a-z0-9-]+)(?:@\w+)?(?:\s|$)/i;

interface Deps {
  installed: InstalledSkills;
  shared: Pick<SharedFolders, "list">;
  /** Looks for changes of the shared skills. */
  refreshShared(): Promise<void>;
  loaded: LoadedSkills;
  /** Undefined for an agent that does not exist. */
  ownerOf(agentId: string): Promise<string | undefined>;
  sandbox: Pick<Sandbox, "run">;
  /** The ids of the skills that are on. */
  enabledIds(agentId: string): Promise<ReadonlySet<string>>;
}

export type FolderSource = ReturnType<typeof createFolderSource>;

export function createFolderSource(deps: Deps) {
  const { installed, shared, refreshShared, loaded, sandbox, ownerOf, enabledIds } = deps;
  const folders = new WeakMap<Skill, FolderSkill>();
  const ofInstalled = createBoundedMap<Skill>(MAX_CACHED);
  const ofShared = new WeakMap<SharedFolder, Skill>();

  function toSkill(folder: FolderSkill): Skill {
    const { id, name, description, version, source, trusted } = folder;
    const skill: Skill = {
      id,
      name,
      description,
      category: "folder",
      version,
      source,
      untrusted: !trusted,
      enabledByDefault: false,
      tools: () => (folder.hasScripts ? toolsWithScripts : tools),
    };
    folders.set(skill, folder);
    return skill;
  }

  function skillOfInstalled(row: InstalledSkill): Skill {
    const key = JSON.stringify([row.userId, row.name, row.version, row.createdAt, row.trusted]);
    const skill = ofInstalled.get(key) ?? toSkill(installedFolder(row, installed));
    ofInstalled.set(key, skill);
    return skill;
  }

  function skillOfShared(folder: SharedFolder): Skill {
    const skill = ofShared.get(folder) ?? toSkill(sharedFolder(folder));
    ofShared.set(folder, skill);
    return skill;
  }

  /** The account's own skills come first: they hide shared ones of the same name. */
  async function skillsOf(userId: string | undefined): Promise<Skill[]> {
    const [own, others] = await Promise.all([userId === undefined ? [] : installed.list(userId), shared.list()]);
    const names = new Set(own.map(({ name }) => name));
    return [...own.map(skillOfInstalled), ...others.filter(({ name }) => !names.has(name)).map(skillOfShared)];
  }

  const foldersIn = (skills: readonly Skill[]) => skills.flatMap((skill) => folders.get(skill) ?? []);

  async function enabledOf(agentId: string): Promise<FolderSkill[]> {
    const [skills, enabled] = await Promise.all([skillsOf(await ownerOf(agentId)), enabledIds(agentId)]);
    return foldersIn(skills).filter(({ id }) => enabled.has(id));
  }

  /** The instructions that this conversation has loaded, as far as there is room; the one loaded last first. */
  async function loadedTexts(sessionId: string, enabled: readonly FolderSkill[]): Promise<Map<string, string>> {
    const texts = new Map<string, string>();
    let left = MAX_LOADED;
    for (const id of await loaded.list(sessionId)) {
      const skill = enabled.find((one) => one.id === id);
      if (!skill) continue;
      const text = await skillText(skill);
      left -= text.length;
      if (left < 0) break;
      texts.set(id, text);
    }
    return texts;
  }

  /** Loads the skill that a message calls by its name, such as "/release-notes for version 2". */
  async function loadCalled(sessionId: string, text: string, enabled: readonly FolderSkill[]): Promise<void> {
    const [, name] = CALL.exec(text) ?? [];
    const skill = name === undefined ? undefined : enabled.find((one) => one.name === name.toLowerCase());
    if (skill && !(await loaded.add(sessionId, skill.id))) await loaded.renew(sessionId, skill.id);
  }

  async function requireSkill(name: string, { agentId, raiseTaint }: ToolContext): Promise<FolderSkill> {
    const enabled = await enabledOf(agentId);
    const skill = enabled.find((one) => one.name === name || one.id === name);
    if (!skill) throw toolDeclined(`There is no such skill. There are: ${enabled.map((one) => one.name).join(", ")}.`);
    if (!skill.trusted) raiseTaint(TAINT.outside);
    return skill;
  }

  /** The file of this path. Authors write for file systems that ignore case: `FORMS.md` for `forms.md`. */
  async function pathIn(skill: FolderSkill, given: string): Promise<string> {
    const path = given.replace(/^\.\//, "");
    const paths = (await skill.files()).map((file) => file.path);
    if (paths.includes(path)) return path;
    const alike = paths.filter((one) => one.toLowerCase() === path.toLowerCase());
    return alike.length === 1 ? (alike[0] ?? path) : path;
  }

  const nameOfSkill = t.String({ minLength: 1, maxLength: 200, description: "As in the list of your skills." });
  const tools = [
    defineTool({
      name: "load_skill",
      class: "read",
      quotes: true,
      description: "Loads the instructions of one of your skills. They stay in this conversation.",
      input: t.Object({ skill: nameOfSkill }),
      async execute({ skill: name }, context) {
        const skill = await requireSkill(name, context);
        const { sessionId, agentId } = context;
        if (!(await loaded.add(sessionId, skill.id))) {
          const texts = await loadedTexts(sessionId, await enabledOf(agentId));
          if (texts.has(skill.id)) return "This skill is loaded: you have its instructions. Don't load it again.";
          await loaded.renew(sessionId, skill.id);
        }
        return skillText(skill);
      },
    }),
    defineTool({
      name: "read_skill_file",
      class: "read",
      quotes: true,
      description: "Reads a text file of one of your skills. Long ones come in parts.",
      input: t.Object({
        skill: nameOfSkill,
        path: t.String({ minLength: 1, maxLength: 300, description: "As in the skill's list of files." }),
        from: t.Optional(t.Integer({ minimum: 0, description: "Character to start at, to read on." })),
      }),
      async execute({ skill: name, path, from = 0 }, context) {
        const skill = await requireSkill(name, context);
        const wanted = path === SKILL_FILE ? path : await pathIn(skill, path);
        const text = wanted === SKILL_FILE ? await skill.body() : await skill.text(wanted);
        if (text === undefined)
          throw toolDeclined("This skill has no such file. Its files are listed when it is loaded.");
        if (text === null) throw toolDeclined("This file is no text, so it can't be read.");
        return part(text, from, { skill: skill.name, path });
      },
    }),
  ];

  const toolsWithScripts = [...tools, createScriptTool({ sandbox, requireSkill, nameOfSkill })];

  const source: SkillSource = {
    id: "folders",
    skillsFor: async (agentId) => skillsOf(agentId === "" ? undefined : await ownerOf(agentId)),
    async skillsOf(userId) {
      await refreshShared();
      return skillsOf(userId);
    },
    async instructions({ sessionId, text }: PromptContext, enabled: readonly Skill[]): Promise<Instructions> {
      const skills = foldersIn(enabled);
      await loadCalled(sessionId, text, skills);
      const texts = await loadedTexts(sessionId, skills);
      const parts = [skillList(skills)];
      if (texts.size > 0)
        parts.push(["Skills that you have loaded in this conversation:", ...texts.values()].join("\n"));
      return {
        text: parts.join("\n\n"),
        taint: skills.some(({ trusted }) => !trusted) ? TAINT.outside : TAINT.none,
      };
    },
  };

  return {
    source,
    /** The skills of an account, with those that are shared with it. */
    async list(userId: string): Promise<FolderSkill[]> {
      return foldersIn(await skillsOf(userId));
    },
  };
}

function installedFolder(row: InstalledSkill, installed: InstalledSkills): FolderSkill {
  return {
    ...row,
    id: folderSkillId(row.name),
    source: "installed",
    version: String(row.version),
    body: () => installed.body(row),
    files: () => installed.files(row),
    text: (path) => installed.text(row, path),
    texts: (paths) => installed.texts(row, paths),
  };
}

const sharedFolder = (folder: SharedFolder): FolderSkill => ({
  ...folder,
  id: folderSkillId(folder.name),
  source: "shared",
  version: folder.metadata.version ?? "1",
  trusted: true,
});
