// Starts, stops, restarts or deletes many agents at once: four requests side by side, with the progress and what failed.

import { useQueryClient } from "@tanstack/react-query";
import { Play, RotateCw, Square, Trash2, X } from "lucide-react";
import { useState } from "react";
import { api, path } from "../../api/api.ts";
import { OVERVIEW_KEY, operateAgent } from "../../data/agents.ts";
import { Button } from "../../parts/button.tsx";
import { messageOf } from "../../parts/error-note.tsx";
import { lazyDialog } from "../../parts/lazy.tsx";
import { showError, showToast } from "../../parts/toast.tsx";
import { t, tn } from "../../viewer/language.ts";
import { type Filters, loadAllIds } from "./use-agents.ts";

interface Props {
  filters: Filters;
  total: number;
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  onEnd: () => void;
}

const SIDE_BY_SIDE = 4;

type Operation = "start" | "stop" | "restart" | "delete";

const DeleteDialog = lazyDialog(() => import("./delete-dialog.tsx"));

const perform = (id: string, operation: Operation): Promise<unknown> =>
  operation === "delete" ? api.delete(path`/api/agents/${id}`) : operateAgent(id, operation);

function outcomeOf(operation: Operation, count: number): string {
  if (operation === "start") return tn("{n} agent runs", "{n} agents run", count);
  if (operation === "stop") return tn("{n} agent is stopped", "{n} agents are stopped", count);
  if (operation === "restart") return tn("{n} agent is restarted", "{n} agents are restarted", count);
  return tn("{n} agent is deleted", "{n} agents are deleted", count);
}

export function SelectionBar({ filters, total, selected, onSelect, onEnd }: Props) {
  const client = useQueryClient();
  const [done, setDone] = useState<number>();
  const [isDeleting, setDeleting] = useState(false);
  const isBusy = done !== undefined;

  const selectAll = async () => {
    try {
      onSelect(new Set((await loadAllIds(filters)).map(({ id }) => id)));
    } catch (error) {
      showError(messageOf(error));
    }
  };

  const run = async (operation: Operation) => {
    setDeleting(false);
    const waiting = [...selected];
    const failures: unknown[] = [];
    setDone(0);
    const work = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        await perform(id, operation).catch((error: unknown) => failures.push(error));
        setDone((before = 0) => before + 1);
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
    setDone(undefined);
    await client.invalidateQueries({ queryKey: OVERVIEW_KEY });
    const ok = selected.size - failures.length;
    if (ok > 0) {
      showToast(outcomeOf(operation, ok));
    }
    if (failures.length > 0) {
      const reason = messageOf(failures[0]);
      showError(
        tn("{n} agent did not change: {reason}", "{n} agents did not change: {reason}", failures.length, { reason }),
      );
      return;
    }
    onEnd();
  };

  return (
    <section
      aria-label={t("Selected agents")}
      className="sticky bottom-4 z-20 mt-3 flex flex-wrap items-center gap-2 rounded-large border border-line bg-raised px-3 py-2 shadow-raised"
    >
      <p role="status" className="mr-auto">
        {isBusy
          ? t("{done} of {all} done", { done, all: selected.size })
          : tn("{n} agent selected", "{n} agents selected", selected.size)}
      </p>
      {selected.size < total && (
        <Button look="bare" disabled={isBusy} onClick={() => void selectAll()}>
          {tn("Select the one", "Select all {n}", total)}
        </Button>
      )}
      <Button disabled={selected.size === 0} isBusy={isBusy} onClick={() => void run("start")}>
        <Play aria-hidden="true" /> {t("Start")}
      </Button>
      <Button disabled={selected.size === 0 || isBusy} onClick={() => void run("stop")}>
        <Square aria-hidden="true" /> {t("Stop")}
      </Button>
      <Button disabled={selected.size === 0 || isBusy} onClick={() => void run("restart")}>
        <RotateCw aria-hidden="true" /> {t("Restart")}
      </Button>
      <Button look="danger" disabled={selected.size === 0 || isBusy} onClick={() => setDeleting(true)}>
        <Trash2 aria-hidden="true" /> {t("Delete")}
      </Button>
      {isDeleting && (
        <DeleteDialog count={selected.size} onConfirm={() => void run("delete")} onClose={() => setDeleting(false)} />
      )}
      <Button look="bare" disabled={isBusy} onClick={onEnd}>
        <X aria-hidden="true" /> {t("Done")}
      </Button>
    </section>
  );
}
