// The plugin of documents that agents write: the tool `write_document`. Nothing is loaded before the first one.
import { plugin } from "../../src/kernel/plugin.ts";
import { skills } from "../skills/index.ts";
import { createDocumentSkill } from "./write-document-skill.ts";

export const documentWriter = plugin("document-writer", ({ use }) => {
  const skillList = [createDocumentSkill()];
  use(skills).register({ id: "built-in", skillsFor: () => skillList });
  return { service: {} };
});
