// One schedule: when it runs in words, its next run, how the last one ended, and what can be done with it.

import { ChevronDown, Pencil, Play, ShieldAlert, Trash2 } from "lucide-react";
import { Button } from "../../../parts/button.tsx";
import { Switch } from "../../../parts/forms/field.tsx";
import { IconButton } from "../../../parts/icon-button.tsx";
import { Badge, Notice, Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { said, t, tn } from "../../../viewer/language.ts";
import type { Schedule } from "./data.ts";
import { Runs } from "./runs.tsx";
import { STATUSES } from "./statuses.ts";
import { formatRun, inWords, OWN_ZONE } from "./timing.ts";

interface Props {
  agentId: string;
  schedule: Schedule;
  /** Its history is shown. */
  isOpen: boolean;
  /** Where its answers go, for people. */
  target: string;
  onOpen: () => void;
  onSwitch: (isOn: boolean) => void;
  onRun: () => void;
  onEdit: () => void;
  onDelete: () => void;
}

export function ScheduleRow({ agentId, schedule, isOpen, target, onOpen, onSwitch, onRun, onEdit, onDelete }: Props) {
  const { name, enabled, timezone, nextRunAt, lastRunAt, lastStatus, statusReason, source, untrusted, failures } =
    schedule;
  const isConfigured = source === "config";
  return (
    <li className="flex flex-col border-edge border-b last:border-b-0">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
        <div className="pt-0.5">
          <Switch label={t("{name} is on", { name })} isLabelHidden isOn={enabled} onChange={onSwitch} />
        </div>
        <div className="min-w-56 flex-1">
          <h3 className="flex flex-wrap items-center gap-2">
            <span className="font-semibold">{name}</span>
            {isConfigured && <Badge>{t("From the configuration")}</Badge>}
            {source === "agent" && <Badge>{t("Made in a chat")}</Badge>}
            {untrusted && (
              <span
                className="inline-flex items-center gap-1 rounded-full bg-warn-wash px-2 font-medium text-warn text-xs"
                title={t(
                  "Content from outside had a part in the task, so tools that act ask you first. Rewrite the task, and it counts as yours.",
                )}
              >
                <ShieldAlert className="size-3" aria-hidden="true" />
                {t("Untrusted")}
              </span>
            )}
          </h3>
          <p>
            {inWords(schedule)}
            {timezone !== OWN_ZONE && <span className="text-soft"> · {timezone}</span>}
          </p>
          <p className="line-clamp-2 text-soft text-sm">{schedule.prompt}</p>
        </div>
        <dl className="grid min-w-44 grid-cols-[auto_1fr] gap-x-2 text-sm">
          <dt className="text-soft">{t("Next")}</dt>
          <dd>
            {enabled && nextRunAt !== null ? (
              <>
                <When at={nextRunAt} /> <span className="whitespace-nowrap text-soft">{formatRun(nextRunAt)}</span>
              </>
            ) : (
              t("not planned")
            )}
          </dd>
          <dt className="text-soft">{t("Last")}</dt>
          <dd className="flex flex-wrap gap-x-2">
            {lastStatus === null ? (
              t("never")
            ) : (
              <Status tone={STATUSES[lastStatus].tone}>{t(STATUSES[lastStatus].label)}</Status>
            )}
            {lastRunAt !== null && <When at={lastRunAt} />}
          </dd>
          <dt className="text-soft">{t("Goes to")}</dt>
          <dd className="min-w-0 truncate">{target}</dd>
        </dl>
        <div className="flex gap-0.5">
          <IconButton label={t("Run {name} now", { name })} onClick={onRun}>
            <Play />
          </IconButton>
          <IconButton label={t("Change {name}", { name })} onClick={onEdit} disabled={isConfigured}>
            <Pencil />
          </IconButton>
          <IconButton label={t("Delete {name}", { name })} onClick={onDelete} disabled={isConfigured}>
            <Trash2 />
          </IconButton>
          <IconButton label={t("History of {name}", { name })} aria-expanded={isOpen} onClick={onOpen}>
            <ChevronDown className={isOpen ? "rotate-180 transition-transform" : "transition-transform"} />
          </IconButton>
        </div>
      </div>
      {!enabled && statusReason !== null && (
        <div className="px-4 pb-3">
          <Notice tone="bad">
            <p>
              {failures >= 5
                ? t("It failed five times in a row and was paused. See in its history why; then switch it on again.")
                : said(statusReason)}
            </p>
            <Button onClick={() => onSwitch(true)}>{t("Switch it on again")}</Button>
          </Notice>
        </div>
      )}
      {enabled && failures > 0 && (
        <p className="px-4 pb-3 text-bad text-sm">
          {tn(
            "It failed {n} time in a row. After five it is paused.",
            "It failed {n} times in a row. After five it is paused.",
            failures,
          )}
        </p>
      )}
      {isOpen && <Runs agentId={agentId} schedule={schedule} />}
    </li>
  );
}
