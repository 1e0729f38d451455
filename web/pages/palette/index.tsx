// The command palette: goes to any page or agent, and starts any action, by a few letters.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useOperation } from "../../data/agents.ts";
import { CONTROL } from "../../parts/forms/field.tsx";
import { useUser } from "../../session/session.tsx";
import { t } from "../../viewer/language.ts";
import { actionsOf, agentCommand, commandsOf, findAgents, type NamedAgent } from "./agent-commands.ts";
import type { Command } from "./command.ts";
import { findAccounts, fixedCommands, searchCommands } from "./commands.ts";
import { fold, rank, wordsOf } from "./ranking.ts";

const SHOWN = 40;
/** Typing this long without a pause sends no request, in milliseconds. */
const PAUSE = 120;

export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const [, navigate] = useLocation();
  // A layout effect is undone while the dialog is still in the page: only then it gives the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  const found = useCommands(typed).slice(0, SHOWN);
  const current = found[Math.min(chosen, found.length - 1)];
  const optionId = (command: Command) => `${listId}-${command.id}`;
  const currentId = current && optionId(current);
  useEffect(() => {
    if (currentId) document.getElementById(currentId)?.scrollIntoView({ block: "nearest" });
  }, [currentId]);

  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    if ("path" in command) navigate(command.path);
    else command.run();
  };
  const move = (by: number) => setChosen((before) => (before + by + found.length) % Math.max(found.length, 1));
  const onKeyDown = (event: KeyboardEvent) => {
    const action = new Map([
      ["ArrowDown", () => move(1)],
      ["ArrowUp", () => move(-1)],
      ["Enter", () => run(current)],
    ]).get(event.key);
    if (!action || event.nativeEvent.isComposing) return;
    event.preventDefault();
    action();
  };
  return (
    <dialog
      ref={dialog}
      aria-label={t("Go to, or do")}
      onCancel={onClose}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
      className="mx-auto mt-[12vh] mb-auto w-[36rem] max-w-[calc(100vw-2rem)] rounded-large border border-edge bg-raised p-2 shadow-raised backdrop:bg-[#06141a99]"
    >
      <input
        type="text"
        role="combobox"
        aria-label={t("Page, agent or action")}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={currentId}
        placeholder={t("Page, agent or action")}
        autoComplete="off"
        autoFocus
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
        className={`${CONTROL} text-md`}
      />
      <div role="listbox" id={listId} aria-label={t("Found")} className="mt-2 max-h-[min(24rem,60dvh)] overflow-y-auto">
        {found.map((command) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's
          <div
            key={command.id}
            id={optionId(command)}
            role="option"
            tabIndex={-1}
            aria-selected={command === current}
            onClick={() => run(command)}
            className="flex cursor-pointer items-center gap-2 rounded-round px-2 py-1.5 hover:bg-hover aria-selected:bg-wash"
          >
            <command.Icon className="size-4 shrink-0 text-soft" aria-hidden="true" />
            <span className="min-w-0 flex-1 truncate">{command.label}</span>
            <span className="text-soft text-sm">{command.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="px-2 py-3 text-soft">{t("Nothing has this name. Try fewer letters.")}</p>}
    </dialog>
  );
}

/** What fits the typed text, the best first; before typing what belongs to the agent of this page, then everything. */
function useCommands(typed: string): Command[] {
  const { isAdmin } = useUser();
  const operate = useOperation();
  const here = useAgentHere();
  const words = wordsOf(typed);
  const sought = usePaused(words.join(" "));
  const { data: agents = [] } = useQuery({
    queryKey: ["palette", "agents", sought],
    queryFn: () => findAgents(wordsOf(sought)),
    placeholderData: (before) => before,
  });
  const { data: accounts = [] } = useQuery({
    queryKey: ["palette", "accounts", sought],
    queryFn: () => findAccounts(sought),
    enabled: isAdmin && sought.length > 1,
    placeholderData: (before) => before,
  });
  const others = agents.filter(({ id }) => id !== here?.id);
  const offered = [
    ...(here ? commandsOf(here, operate) : []),
    // Before a word is typed the pages are enough: each shows what can be done there.
    ...(here && words.length > 0 ? actionsOf(here) : []),
    ...fixedCommands(isAdmin),
    ...agents.map(agentCommand),
    // The pages of other agents only when a word asks for more than the agent.
    ...others
      .filter((agent) => words.some((word) => !fold(agent.name).includes(word)))
      .flatMap((agent) => [...commandsOf(agent, operate), ...actionsOf(agent)]),
    ...(words.length > 0 ? accounts : []),
  ];
  const found = rank(offered, words);
  return isAdmin && words.length > 0 ? [...found, ...searchCommands(typed.trim())] : found;
}

/** The agent whose page is open; its page has read it. */
function useAgentHere(): NamedAgent | undefined {
  const client = useQueryClient();
  const [location] = useLocation();
  const [, id] = /^\/agents\/([^/]+)/.exec(location) ?? [];
  return client.getQueryData<{ agent: NamedAgent }>(["agent", id, "detail"])?.agent;
}

/** The value as it was when it last stayed the same for a moment. */
function usePaused(value: string): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
}
