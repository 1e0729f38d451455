// The setting of skills as folders: where the operator keeps those that all accounts share.
import { absolutePath } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { optional } from "../../src/kernel/config/variable.ts";

export const skillFolderSettings = defineSettings({
  name: "skill-folders",
  variables: {
    SKILLS_DIR: optional(
      absolutePath,
      "Folder with skills for all agents, each in a folder of its own with a `SKILL.md`. Unset: none.",
    ),
  },
  build: (v) => ({ sharedDir: v.SKILLS_DIR }),
});
