// Says so where what an agent knows has no effect, because the skill that uses it is off.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, path } from "../../../api/api.ts";
import { Notice } from "../../../parts/values/status.tsx";
import { rich, type Text } from "../../../viewer/language.ts";

interface Props {
  agentId: string;
  skill: string;
  /** What is off, with the way to the skills as `<a>…</a>`. */
  words: Text;
  className?: string;
}

export function SkillIsOff({ agentId, skill, words, className }: Props) {
  const { data } = useQuery({
    queryKey: ["agent", agentId, "skills"],
    queryFn: () => api.get<{ skills: { id: string; enabled: boolean }[] }>(path`/api/agents/${agentId}/skills`),
  });
  if (data?.skills.find(({ id }) => id === skill)?.enabled !== false) return null;
  return (
    <div className={className}>
      <Notice tone="warn">
        <p>
          {rich(words, {
            a: (inner, key) => (
              <Link key={key} href={`/agents/${agentId}/skills`} className="underline">
                {inner}
              </Link>
            ),
          })}
        </p>
      </Notice>
    </div>
  );
}
