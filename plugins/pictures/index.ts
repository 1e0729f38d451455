// The plugin of pictures: the tool `make_picture`, for agents that have it switched on and a provider with an image model.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { skills } from "../skills/index.ts";
import { createPictureSkill } from "./picture-skill.ts";

export const pictures = plugin("pictures", ({ use }) => {
  const skillList = [createPictureSkill({ agents: use(agents), ai: use(ai) })];
  use(skills).register({ id: "built-in", skillsFor: () => skillList });
  return { service: {} };
});
