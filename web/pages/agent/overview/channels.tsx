// Where an agent can be talked to: its channels with their states, and its public page.

import { Link } from "wouter";
import type { AgentOverview } from "../../../data/agents.ts";
import { ChannelIcon, channelState } from "../../../parts/agents/agent-state.tsx";
import { OutsideLink } from "../../../parts/outside-link.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { CopyButton } from "../../../parts/values/copy-button.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { said, t } from "../../../viewer/language.ts";

export const Channels = ({ id, agent }: { id: string; agent: AgentOverview | undefined }) => (
  <Section
    title={t("Where it talks")}
    actions={
      <Link href={`/agents/${id}/channels`} className="text-sea underline">
        {t("Channels")}
      </Link>
    }
  >
    {!agent && <Skeleton className="h-16" />}
    {agent && (
      <ul className="flex flex-col gap-2">
        {agent.channels.map(({ channel, name, username, state, lastError }) => {
          const { tone, words } =
            agent.status === "stopped" ? { tone: "idle" as const, words: t("stopped") } : channelState(state);
          return (
            <li key={channel} className="flex flex-wrap items-center gap-x-2">
              <ChannelIcon name={name} className="size-4 text-soft" />
              <span className="font-medium">{name}</span>
              <span className="min-w-0 flex-1 truncate text-soft">@{username}</span>
              <Status tone={tone}>{words}</Status>
              {state !== "connected" && lastError && <p className="w-full text-soft text-sm">{said(lastError)}</p>}
            </li>
          );
        })}
        {agent.channels.length === 0 && (
          <li className="text-soft">{t("Only here in the browser so far. Connect Telegram, Discord or WhatsApp.")}</li>
        )}
        {agent.publicPage && (
          <li className="flex flex-wrap items-center gap-x-2 border-edge border-t pt-2">
            <span className="font-medium">{t("Public page")}</span>
            <span className="min-w-0 flex-1 truncate">
              <OutsideLink href={agent.url}>{agent.url.replace(/^https?:\/\//, "")}</OutsideLink>
            </span>
            <CopyButton value={agent.url} label={t("Copy the address")} />
          </li>
        )}
      </ul>
    )}
  </Section>
);
