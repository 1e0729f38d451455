// Where a line of the log leads: the turn behind it, which opens here, and the page of what it is about.

import { ArrowRight } from "lucide-react";
import { Link } from "wouter";
import type { LogLinks } from "../../../../plugins/agents/logs/log-links.ts";
import { path } from "../../../api/api.ts";
import { type Text, t, text } from "../../../viewer/language.ts";

interface Target {
  label: Text;
  /** Below the agent's address. */
  page(id: string): string;
}

const TARGETS: Readonly<Record<Exclude<keyof LogLinks, "turn">, Target>> = {
  schedule: { label: text("Schedules"), page: () => "/schedules" },
  approval: { label: text("Approvals"), page: () => "/approvals" },
  file: { label: text("Files"), page: () => "/memory" },
  channel: { label: text("Channel"), page: (id) => path`/channels/${id}` },
  server: { label: text("Skills"), page: () => "/skills" },
  skill: { label: text("Skills"), page: () => "/skills" },
  version: { label: text("History"), page: () => "/history" },
};

const LOOK =
  "ml-2 inline-flex min-h-6 items-center gap-0.5 whitespace-nowrap font-sans text-sea underline-offset-2 hover:underline";

interface Props {
  agentId: string;
  links: LogLinks;
  onOpenTurn: (turnId: string) => void;
}

export function LineLinks({ agentId, links, onOpenTurn }: Props) {
  const pages = Object.entries(TARGETS).flatMap(([kind, { label, page }]) => {
    const id = links[kind as keyof LogLinks];
    return id === undefined ? [] : [{ label, address: path`/agents/${agentId}` + page(String(id)) }];
  });
  const { turn } = links;
  return (
    <>
      {turn !== undefined && (
        <button type="button" className={LOOK} onClick={() => onOpenTurn(turn)}>
          {t("Steps")}
          <ArrowRight className="size-3.5" aria-hidden="true" />
        </button>
      )}
      {pages.map(({ label, address }) => (
        <Link key={address} href={address} className={LOOK}>
          {t(label)}
          <ArrowRight className="size-3.5" aria-hidden="true" />
        </Link>
      ))}
    </>
  );
}
