// The list above the field while a message begins with "/". The field keeps the focus; arrows move, Enter or Tab takes one.

import { type KeyboardEvent, useId, useState } from "react";
import { t } from "../../../../viewer/language.ts";
import { type SlashCommand, useSlashCommands } from "./slash-commands.ts";

/** @param onTake gets the text with the command that was chosen */
export function useSlashMenu(agentId: string, text: string, onTake: (text: string) => void) {
  const id = useId();
  const found = useSlashCommands(agentId, text);
  const [place, setPlace] = useState(0);
  // The text for which the list was closed by Escape.
  const [closedFor, setClosedFor] = useState<string>();
  const commands = closedFor === text ? [] : found;
  const active = Math.min(place, commands.length - 1);
  const take = ({ name }: SlashCommand) => {
    setPlace(0);
    onTake(`/${name} `);
  };

  /** Whether the key was meant for the list. */
  function onKeyDown(event: KeyboardEvent): boolean {
    const chosen = commands[active];
    if (!chosen || event.nativeEvent.isComposing) return false;
    if (event.key === "ArrowDown") setPlace((active + 1) % commands.length);
    else if (event.key === "ArrowUp") setPlace((active + commands.length - 1) % commands.length);
    else if (event.key === "Escape") setClosedFor(text);
    else if (event.key === "Tab" || (event.key === "Enter" && text !== `/${chosen.name}`)) take(chosen);
    else return false;
    event.preventDefault();
    return true;
  }

  const isOpen = commands.length > 0;
  return {
    onKeyDown,
    /** For the field, so that screen readers say what is chosen. */
    field: {
      "aria-haspopup": "listbox",
      "aria-controls": isOpen ? id : undefined,
      "aria-activedescendant": isOpen ? `${id}-${active}` : undefined,
      "aria-autocomplete": "list",
    } as const,
    list: isOpen && (
      <div
        id={id}
        role="listbox"
        aria-label={t("Commands and skills")}
        className="mb-1 max-h-64 overflow-y-auto rounded-round border border-edge bg-raised p-1 shadow-raised"
      >
        {commands.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's, which keeps the focus
          <div
            key={command.name}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // The field must not lose the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(command)}
            className="flex cursor-pointer items-baseline gap-2 rounded-round px-2 py-1 hover:bg-hover aria-selected:bg-wash"
          >
            <span className="shrink-0 font-mono text-sm">/{command.name}</span>
            <span className="min-w-0 truncate text-soft text-sm">{command.about}</span>
          </div>
        ))}
      </div>
    ),
  };
}
