// One agent of the list: who owns it, how it does, what it costs, and a button to stop or start it.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, path } from "../../../api/api.ts";
import { type ModelList, modelName, useModelChoices } from "../../../data/models.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { Badge, Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatNumber, formatUsd, said, t, tn } from "../../../viewer/language.ts";
import type { FleetAgent } from "../api-types.ts";
import { CHANNEL_STATES, platformName } from "../channel-texts.ts";
import { FreezeAgent } from "./freeze-agent.tsx";

export function AgentRow({ agent }: { agent: FleetAgent }) {
  const { name, owner, channels, costTodayUsd, errorsToday, lastActivityAt, reason } = agent;
  return (
    <article className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 border-edge border-b px-4 py-2 hover:bg-hover lg:grid-cols-[minmax(0,2.2fr)_minmax(0,1.6fr)_minmax(0,1.4fr)_minmax(0,1.2fr)_9rem]">
      <div className="min-w-0">
        <h2 className="truncate font-medium">{name}</h2>
        <p className="truncate text-soft text-sm">
          <Link href={`/admin/users/${owner.id}`} className="text-sea hover:underline">
            {owner.email}
          </Link>
        </p>
      </div>
      <div className="min-w-0 max-lg:order-3 max-lg:col-span-2">
        <AgentState agent={agent} />
        {reason && (
          <p className="line-clamp-2 text-soft text-sm" title={said(reason)}>
            {said(reason)}
          </p>
        )}
      </div>
      <ul aria-label={t("Channels")} className="flex min-w-0 flex-wrap gap-x-3 max-lg:order-4 max-lg:col-span-2">
        {channels.map(({ channel, state }) => (
          <li key={channel}>
            <Status tone={CHANNEL_STATES[state].tone}>
              {platformName(channel)}
              <span className="sr-only"> {t(CHANNEL_STATES[state].label)}</span>
            </Status>
          </li>
        ))}
      </ul>
      <div className="min-w-0 text-sm max-lg:order-5 max-lg:col-span-2">
        <p>
          {t("{amount} today", { amount: formatUsd(costTodayUsd) })}
          {errorsToday > 0 && (
            <span className="text-bad">
              {" "}
              · {tn("{n} error", "{n} errors", errorsToday, { n: formatNumber(errorsToday) })}
            </span>
          )}
        </p>
        <p className="text-soft">
          {lastActivityAt ? (
            <>
              {t("Active")} <When at={lastActivityAt} />
            </>
          ) : (
            t("No conversation yet")
          )}
        </p>
      </div>
      <div className="flex items-center gap-1 justify-self-end max-lg:order-2">
        {agent.frozen === null && <StopOrStart agent={agent} />}
        <FreezeAgent agent={agent} />
      </div>
    </article>
  );
}

function AgentState({ agent: { status, frozen, owner, model } }: { agent: FleetAgent }) {
  const { data: list } = useModelChoices();
  return (
    <p className="flex flex-wrap items-center gap-x-2">
      {frozen ? (
        <Status tone="warn">{t("Frozen")}</Status>
      ) : status === "error" ? (
        <Status tone="bad">{t("Does not come up")}</Status>
      ) : status === "stopped" ? (
        <Status tone="idle">{t("Stopped")}</Status>
      ) : (
        <Status tone="good">{t("Answers")}</Status>
      )}
      <span className="truncate text-soft text-sm">{chosenName(model, list)}</span>
      {owner.disabled && <Badge>{t("Account disabled")}</Badge>}
      {frozen === "account" && <Badge tone="warn">{t("With its account")}</Badge>}
    </p>
  );
}

/** The name of what a choice stands for now; a model that the agent names itself has its own. */
const chosenName = (model: string, list: ModelList | undefined): string =>
  model === "model_a" || model === "model_b"
    ? (list?.choices[model].name ?? "")
    : modelName({ model: "custom", ownModel: model }, list);

function StopOrStart({ agent: { id, name, status } }: { agent: FleetAgent }) {
  const client = useQueryClient();
  const isStopped = status === "stopped";
  const operate = useMutation({
    mutationFn: (operation: "start" | "stop") => api.post(path`/api/admin/agents/${id}/${operation}`),
    onSuccess(_, operation) {
      const isStop = operation === "stop";
      showToast(isStop ? t("{name} is stopped.", { name }) : t("{name} answers again.", { name }), {
        label: t("Undo"),
        run: () => operate.mutate(isStop ? "start" : "stop"),
      });
    },
    onError: (error) => showError(messageOf(error)),
    onSettled: () => void client.invalidateQueries({ queryKey: ["admin", "agents"] }),
  });
  return (
    <Button
      isBusy={operate.isPending}
      aria-label={`${isStopped ? t("Start") : t("Stop")}: ${name}`}
      onClick={() => operate.mutate(isStopped ? "start" : "stop")}
    >
      {isStopped ? t("Start") : t("Stop")}
    </Button>
  );
}
