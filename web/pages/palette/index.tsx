// The command palette: goes to any page or agent, and starts any action, by a few letters.

import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { t } from "../../app/language.ts";
import { useUser } from "../../app/session.tsx";
import { CONTROL } from "../../parts/field.tsx";
import { type Command, fixedCommands, listAgentCommands, matches } from "./commands.ts";

const SHOWN = 12;

export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const [, navigate] = useLocation();
  const { isAdmin } = useUser();
  const sought = useDeferredValue(query.trim().toLowerCase());
  const { data: agents = [] } = useQuery({
    queryKey: ["palette", sought],
    queryFn: () => listAgentCommands(sought),
    placeholderData: (before) => before,
  });
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const found = [...fixedCommands(isAdmin), ...agents].filter((command) => matches(command, sought)).slice(0, SHOWN);
  const current = found[Math.min(chosen, found.length - 1)];

  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    if ("path" in command) navigate(command.path);
    else command.run();
  };
  const move = (by: number) => setChosen((before) => (before + by + found.length) % Math.max(found.length, 1));
  const onKeyDown = ({ key, preventDefault }: { key: string; preventDefault: () => void }) => {
    const action = new Map([
      ["ArrowDown", () => move(1)],
      ["ArrowUp", () => move(-1)],
      ["Enter", () => run(current)],
    ]).get(key);
    if (!action) return;
    preventDefault();
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
        aria-activedescendant={current ? `${listId}-${current.id}` : undefined}
        placeholder={t("Page, agent or action")}
        autoFocus
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => onKeyDown({ key: event.key, preventDefault: () => event.preventDefault() })}
        className={`${CONTROL} text-md`}
      />
      <div role="listbox" id={listId} aria-label={t("Found")} className="mt-2 max-h-96 overflow-y-auto">
        {found.map((command) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's
          <div
            key={command.id}
            id={`${listId}-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === current}
            onClick={() => run(command)}
            className="flex cursor-pointer items-center gap-2 rounded-round px-2 py-1.5 aria-selected:bg-wash"
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
