// One agent in the list: as a card, or as a row.

import { BadgeCheck, Ellipsis, Globe, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { AgentOverview } from "../../data/agents.ts";
import { needsOf } from "../../data/needs.ts";
import { AgentState, ChannelIcons, Monogram } from "../../parts/agents/agent-state.tsx";
import { IconButton } from "../../parts/icon-button.tsx";
import { When } from "../../parts/values/when.tsx";
import { formatUsd, t } from "../../viewer/language.ts";

export interface ItemProps {
  agent: AgentOverview;
  model: string;
  /** undefined: nothing is being selected. */
  isSelected: boolean | undefined;
  onSelect: (isSelected: boolean) => void;
  /** Opens the menu at this element. */
  onMenu: (anchor: HTMLElement) => void;
  isMenuOpen: boolean;
}

/** With a line for what an agent needs, and without. */
export const CARD_HEIGHT = { tall: 176, low: 148 };

export function AgentCard(props: ItemProps) {
  const { agent, model } = props;
  return (
    <div className="h-full p-1.5">
      <Frame {...props} className="flex h-full flex-col gap-2 rounded-large border border-edge bg-card p-3.5">
        <div className="flex items-start gap-3">
          <Mark {...props} />
          <div className="min-w-0 flex-1">
            <Name agent={agent} />
            <p className="truncate text-soft text-sm">{model}&nbsp;</p>
          </div>
          <MenuButton {...props} />
        </div>
        <div className="flex min-h-5 items-center gap-3 text-sm">
          <AgentState status={agent.status} />
          <ChannelIcons channels={agent.channels} isStopped={agent.status === "stopped"} />
          <Marks agent={agent} />
        </div>
        <Need agent={agent} />
        <div className="mt-auto flex justify-between gap-3 border-edge border-t pt-2 text-soft text-sm">
          <Activity agent={agent} />
          <span title={t("Cost since midnight UTC")}>{t("{cost} today", { cost: formatUsd(agent.costTodayUsd) })}</span>
        </div>
      </Frame>
    </div>
  );
}

export const ROW_HEIGHT = { wide: 44, narrow: 64 };

/** Columns of a row: name, state, channels, activity, cost, menu. */
export const ROW_COLUMNS = "lg:grid-cols-[minmax(12rem,3fr)_6.5rem_6rem_minmax(8rem,2fr)_8rem_5.5rem_2rem]";

export function AgentRow(props: ItemProps) {
  const { agent, model } = props;
  return (
    <Frame
      {...props}
      className={`grid h-full grid-cols-[minmax(0,1fr)_auto_2rem] items-center gap-x-3 border-edge border-b px-3 ${ROW_COLUMNS}`}
    >
      <div className="flex min-w-0 items-center gap-2.5">
        <Mark {...props} className="size-7 text-sm" />
        <div className="min-w-0">
          <Name agent={agent} />
          <div className="lg:hidden">
            {needsOf(agent).length > 0 ? (
              <Need agent={agent} />
            ) : (
              <p className="truncate text-soft text-xs">{model}&nbsp;</p>
            )}
          </div>
        </div>
      </div>
      <span className="text-sm">
        <AgentState status={agent.status} />
      </span>
      <span className="hidden lg:block">
        <ChannelIcons channels={agent.channels} isStopped={agent.status === "stopped"} />
      </span>
      <span className="hidden min-w-0 lg:block">
        {needsOf(agent).length > 0 ? (
          <Need agent={agent} />
        ) : (
          <span className="block truncate text-soft text-sm">{model}</span>
        )}
      </span>
      <span className="hidden text-soft text-sm lg:block">
        <Activity agent={agent} />
      </span>
      <span className="hidden text-right text-sm lg:block">{formatUsd(agent.costTodayUsd)}</span>
      <MenuButton {...props} />
    </Frame>
  );
}

/** The whole item opens the agent, except for what is to be clicked in it. */
function Frame({
  agent,
  isSelected,
  onMenu,
  className,
  children,
}: ItemProps & { className: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the same menu opens by its button
    <div
      className={`relative transition-colors hover:bg-hover has-[a:focus-visible]:outline-2 has-[a:focus-visible]:outline-sea ${isSelected ? "bg-wash" : ""} ${className}`}
      onContextMenu={(event) => {
        const button = event.currentTarget.querySelector<HTMLElement>(`[data-menu="${agent.id}"]`);
        if (!button || getSelection()?.toString()) return;
        event.preventDefault();
        onMenu(button);
      }}
    >
      {children}
    </div>
  );
}

const Name = ({ agent: { id, name } }: { agent: AgentOverview }) => (
  <Link
    href={`/agents/${id}`}
    className="block truncate font-medium outline-none after:absolute after:inset-0 hover:text-sea"
  >
    {name}
  </Link>
);

function Mark({ agent, isSelected, onSelect, className }: ItemProps & { className?: string }) {
  if (isSelected === undefined) return <Monogram name={agent.name} {...(className && { className })} />;
  return (
    <label className={`relative z-10 grid shrink-0 place-items-center ${className ?? "size-9"}`}>
      <span className="sr-only">{t("Select {name}", { name: agent.name })}</span>
      <input
        type="checkbox"
        checked={isSelected}
        onChange={(event) => onSelect(event.target.checked)}
        className="size-4.5 accent-fill"
      />
    </label>
  );
}

const MenuButton = ({ agent, onMenu, isMenuOpen }: ItemProps) => (
  <IconButton
    label={t("Actions for {name}", { name: agent.name })}
    aria-haspopup="menu"
    aria-expanded={isMenuOpen}
    data-menu={agent.id}
    onClick={(event) => onMenu(event.currentTarget)}
    className="relative z-10 text-soft hover:bg-well hover:text-ink"
  >
    <Ellipsis />
  </IconButton>
);

const Marks = ({ agent: { verified, publicPage } }: { agent: AgentOverview }) => (
  <span className="ml-auto flex gap-2 text-soft">
    {publicPage && (
      <span title={t("Visitors may talk to it")}>
        <Globe className="size-4" aria-hidden="true" />
        <span className="sr-only">{t("Visitors may talk to it")}</span>
      </span>
    )}
    {verified && (
      <span title={t("Verified")}>
        <BadgeCheck className="size-4" aria-hidden="true" />
        <span className="sr-only">{t("Verified")}</span>
      </span>
    )}
  </span>
);

function Need({ agent }: { agent: AgentOverview }) {
  const [first, ...more] = needsOf(agent);
  if (!first) return null;
  return (
    <p className="flex min-w-0 items-center gap-1.5 text-sm text-warn">
      <TriangleAlert className="size-3.5 shrink-0" aria-hidden="true" />
      <Link
        href={`/agents/${agent.id}${first.path}`}
        className="relative z-10 truncate underline-offset-2 hover:underline"
        title={first.detail ?? first.words}
      >
        {first.words}
      </Link>
      {more.length > 0 && <span className="shrink-0">+{more.length}</span>}
    </p>
  );
}

const Activity = ({ agent: { lastActivityAt } }: { agent: AgentOverview }) =>
  lastActivityAt ? <When at={lastActivityAt} /> : <span>{t("Not used yet")}</span>;
