// What an agent can do: its skills, what it may do without asking, and its keys.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { ButtonLink } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { Approvals } from "./approvals.tsx";
import { McpServers } from "./mcp/index.tsx";
import { ProviderKeys } from "./provider-keys.tsx";
import { SearchKeys } from "./search-keys.tsx";
import { SkillCard } from "./skill-card.tsx";
import { type Skill, skillWords } from "./words.ts";

interface SkillList {
  skills: Skill[];
}

export default function SkillsPage() {
  const { id: agentId, name } = useAgent();
  const client = useQueryClient();
  const queryKey = ["agent", agentId, "skills"] as const;
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: () => api.get<SkillList>(path`/api/agents/${agentId}/skills`),
  });

  async function switchTo(skill: Skill, enabled: boolean): Promise<void> {
    const before = client.getQueryData<SkillList>(queryKey);
    const changed = (one: Skill): Skill => (one.id === skill.id ? { ...one, enabled, decidedBy: "owner" } : one);
    client.setQueryData<SkillList>(queryKey, (list) => list && { skills: list.skills.map(changed) });
    try {
      await api.post("/api/agent", { action: "update-skill", agentId, skillId: skill.id, enabled });
      const words = skillWords(skill);
      const undo = { label: t("Undo"), run: () => void switchTo(skill, !enabled) };
      showToast(enabled ? t("{name} is on", { name: words.name }) : t("{name} is off", { name: words.name }), undo);
    } catch (refused) {
      client.setQueryData(queryKey, before);
      showError(messageOf(refused));
    }
  }

  return (
    <>
      <Section
        title={t("Skills")}
        hint={t("What {name} can do besides talking. A change holds from the next message on.", { name })}
        actions={<ButtonLink href="/account/skills">{t("Add skills")}</ButtonLink>}
      >
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3">
          {!data && !error && PLACES.map((place) => <Skeleton key={place} className="h-44" />)}
          {data?.skills.filter(isOwnSkill).map((skill) => (
            <SkillCard key={skill.id} skill={skill} onSwitch={(isOn) => void switchTo(skill, isOn)} />
          ))}
        </div>
      </Section>
      {data?.skills.some(({ id, enabled }) => id === "web-search" && enabled) && <SearchKeys agentId={agentId} />}
      <McpServers agentId={agentId} agentName={name} />
      <Approvals agentId={agentId} skills={data?.skills ?? []} />
      <ProviderKeys agentId={agentId} />
    </>
  );
}

/** MCP servers have their own section. */
const isOwnSkill = ({ source }: Skill) => source !== "mcp";

const PLACES = [0, 1, 2, 3, 4, 5];
