// What an agent needs its owner for, each with the way to settle it.

import { Link } from "wouter";
import { type AgentOverview, useOperation } from "../../../data/agents.ts";
import { needsOf } from "../../../data/needs.ts";
import { Button } from "../../../parts/button.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";

export function AgentNeeds({ agent }: { agent: AgentOverview }) {
  const operate = useOperation();
  const needs = needsOf(agent);
  if (needs.length === 0) return null;
  return (
    <section aria-label={t("Needs you")} className="mb-5 rounded-large border border-warn bg-warn-wash px-4 py-3">
      <h2 className="font-semibold">{t("Needs you")}</h2>
      <ul className="mt-1 flex flex-col gap-1.5">
        {needs.map(({ words, detail, path }) => (
          <li key={words} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="min-w-0 flex-1">
              <Status tone="warn">
                <span className="text-ink">{words}</span>
              </Status>
              {detail && <span className="block text-soft text-sm">{detail}</span>}
            </span>
            {path ? (
              <Link href={`/agents/${agent.id}${path}`} className="font-medium text-sea underline">
                {path === "/approvals" ? t("Look and decide") : t("See the channel")}
              </Link>
            ) : (
              <Button onClick={() => void operate(agent, "restart")}>{t("Restart")}</Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
