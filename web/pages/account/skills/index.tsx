// The account's skills: folders with a SKILL.md that its agents can use. Install, read, trust and remove them.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import { loadSkills, SKILLS } from "./data.ts";
import { Installer } from "./installer.tsx";
import { SkillRow } from "./skill-row.tsx";

export default function SkillsPage() {
  const queries = useQueryClient();
  const [open, setOpen] = useParameter("skill");
  const query = useQuery({ queryKey: SKILLS, queryFn: loadSkills });
  const reload = () => queries.invalidateQueries({ queryKey: SKILLS });
  return (
    <>
      <Section
        title={t("Install a skill")}
        hint={t(
          "A skill teaches an agent how to do something. It is a folder with a SKILL.md; those made for other agents work unchanged.",
        )}
      >
        <Installer
          onInstalled={(id) => {
            setOpen(id);
            void reload();
          }}
        />
      </Section>
      <Section title={t("Your skills")} hint={t("Switch a skill on for an agent on its page Skills.")}>
        <Loaded query={query} height="h-24">
          {({ skills }) =>
            skills.length === 0 ? (
              <EmptyState title={t("No skill yet")}>
                {t("Write one with a text editor, or take one that somebody has published, and drop its zip above.")}
              </EmptyState>
            ) : (
              <ul aria-label={t("Your skills")} className="-my-2">
                {skills.map((skill) => (
                  <SkillRow
                    key={skill.id}
                    skill={skill}
                    isOpen={skill.id === open}
                    onToggle={() => setOpen(skill.id === open ? "" : skill.id)}
                    onChanged={reload}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
    </>
  );
}
