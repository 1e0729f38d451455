// The head of an agent's pages: its name, which can be changed in place, its state, and starting and stopping it.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Pencil, Play, RotateCw, Square } from "lucide-react";
import { useRef, useState } from "react";
import { api, path } from "../../api/api.ts";
import { isRunning, type Operation, OVERVIEW_KEY, useOperation } from "../../data/agents.ts";
import { AgentState, Monogram } from "../../parts/agents/agent-state.tsx";
import { Button } from "../../parts/button.tsx";
import { messageOf } from "../../parts/error-note.tsx";
import { CONTROL } from "../../parts/forms/field.tsx";
import { IconButton } from "../../parts/icon-button.tsx";
import { AsCodeButton } from "../../parts/page/as-code-button.tsx";
import { showError } from "../../parts/toast.tsx";
import { Status } from "../../parts/values/status.tsx";
import { said, t } from "../../viewer/language.ts";
import { type Agent, agentKey } from "./agent.tsx";

export function AgentHeader({ agent }: { agent: Agent }) {
  const operate = useOperation();
  const [running, setRunning] = useState<Operation>();
  const run = async (operation: Operation) => {
    setRunning(operation);
    await operate(agent, operation);
    setRunning(undefined);
  };
  const isUp = isRunning(agent.status);
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 md:px-0">
      <Monogram name={agent.name} className="size-10 text-lg" />
      <div className="min-w-0 flex-1">
        <Name agent={agent} />
        <p role="status" className="flex min-w-0 flex-wrap gap-x-2 text-sm">
          {agent.frozen ? (
            <Status tone="warn">{t("Paused by the operator")}</Status>
          ) : (
            <AgentState status={agent.status} />
          )}
          {agent.frozen && <span className="text-soft wrap-anywhere">{agent.frozen.reason}</span>}
          {agent.status === "error" && agent.statusReason && (
            <span className="text-soft">{said(agent.statusReason)}</span>
          )}
        </p>
      </div>
      <div className="flex items-center gap-2">
        {agent.frozen ? null : isUp ? (
          <Button isBusy={running === "stop"} onClick={() => void run("stop")}>
            <Square aria-hidden="true" /> <span className="max-sm:sr-only">{t("Stop")}</span>
          </Button>
        ) : (
          <Button look="primary" isBusy={running === "start"} onClick={() => void run("start")}>
            <Play aria-hidden="true" /> <span className="max-sm:sr-only">{t("Start")}</span>
          </Button>
        )}
        {!agent.frozen && (
          <IconButton label={t("Restart")} disabled={running !== undefined} onClick={() => void run("restart")}>
            <RotateCw className={running === "restart" ? "animate-spin" : ""} />
          </IconButton>
        )}
        <AsCodeButton />
      </div>
    </header>
  );
}

function Name({ agent: { id, name } }: { agent: Agent }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState<string>();
  const key = agentKey(id);
  const rename = useMutation({
    mutationFn: (name: string) => api.patch<{ agent: Agent }>(path`/api/agents/${id}`, { name }),
    onMutate(name) {
      const before = client.getQueryData<{ agent: Agent }>(key);
      if (before) client.setQueryData(key, { agent: { ...before.agent, name } });
      return before;
    },
    onError(error, wanted, before) {
      client.setQueryData(key, before);
      // What was typed is not lost.
      open(wanted);
      showError(messageOf(error));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: OVERVIEW_KEY }),
  });
  // The field loses the focus, too, when it goes because of a key.
  const isOpen = useRef(false);
  const open = (text: string) => {
    isOpen.current = true;
    setTyped(text);
  };
  const end = (wanted: string) => {
    if (!isOpen.current) return;
    isOpen.current = false;
    setTyped(undefined);
    const next = wanted.trim();
    if (next && next !== name) rename.mutate(next);
  };
  return (
    <div className="flex min-h-8 items-center gap-1">
      <h1 className={typed === undefined ? "line-clamp-2 font-semibold text-lg wrap-anywhere sm:text-xl" : "sr-only"}>
        {name}
      </h1>
      {typed === undefined ? (
        <IconButton label={t("Rename")} onClick={() => open(name)}>
          <Pencil />
        </IconButton>
      ) : (
        <input
          aria-label={t("Name")}
          ref={focus}
          maxLength={64}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onFocus={(event) => event.target.select()}
          onBlur={() => end(typed)}
          onKeyDown={({ key }) => {
            if (key === "Enter") end(typed);
            if (key === "Escape") end("");
          }}
          className={`${CONTROL} max-w-md font-semibold text-lg`}
        />
      )}
    </div>
  );
}

/** The person has just asked to type here. */
const focus = (element: HTMLElement | null) => element?.focus();
