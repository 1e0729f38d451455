// One file: what it is, how far its reading is, what went wrong, and the ways to read it again and to delete it.

import { FileText, Globe, RotateCw, Trash2 } from "lucide-react";
import { useId } from "react";
import { visibleText } from "../../../../../src/kernel/util/text/visible-text.ts";
import { IconButton } from "../../../../parts/icon-button.tsx";
import { OutsideLink } from "../../../../parts/outside-link.tsx";
import { Status } from "../../../../parts/values/status.tsx";
import { When } from "../../../../parts/values/when.tsx";
import { formatBytes, formatNumber, said, t, tn } from "../../../../viewer/language.ts";
import { isBusy, type KnownFile, PROBLEMS, REFRESHES, type Refresh, toRefresh } from "./data.ts";

interface Props {
  file: KnownFile;
  onReadAgain: () => void;
  onRefresh: (refresh: Refresh) => void;
  onDelete: () => void;
}

export function FileRow({ file, onReadAgain, onRefresh, onDelete }: Props) {
  const nameId = useId();
  const Icon = file.url === null ? FileText : Globe;
  const canReadAgain = !isBusy(file) && file.url !== null;
  return (
    <article aria-labelledby={nameId} className="flex items-start gap-3 border-edge border-t px-4 py-3 hover:bg-hover">
      <Icon className="mt-0.5 size-4 shrink-0 text-soft" aria-hidden="true" />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p id={nameId} className="font-medium [overflow-wrap:anywhere]">
          {visibleText(file.name)}
        </p>
        {file.url !== null && (
          <p className="truncate text-sm">
            <OutsideLink href={file.url}>{file.url}</OutsideLink>
          </p>
        )}
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft text-sm">
          <FileState file={file} />
          {file.size > 0 && <span>{formatBytes(file.size)}</span>}
          <When at={file.readAt ?? file.createdAt} />
          {file.source === "agent" && <span>{t("kept from a chat")}</span>}
        </p>
        {isBusy(file) && file.progress.expected > 0 && <Progress {...file.progress} />}
        {file.error !== null && <Problem file={file} />}
        {file.cut && file.status === "ready" && (
          <p className="max-w-prose text-sm text-warn">
            {t("It is longer than what is read of one file: its end is left out. Split it to have all of it.")}
          </p>
        )}
        {file.url !== null && (
          <label className="mt-0.5 flex items-center gap-2 text-soft text-sm">
            {t("Read it")}
            <select
              value={file.refresh ?? ""}
              onChange={(event) => onRefresh(toRefresh(event.target.value))}
              className="rounded-round border border-line bg-card px-1.5 py-0.5 text-ink"
            >
              {REFRESHES.map(({ value, label }) => (
                <option key={value} value={value}>
                  {t(label)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <div className="-my-1 flex shrink-0 gap-0.5">
        {canReadAgain && (
          <IconButton label={t("Read it again now")} onClick={onReadAgain}>
            <RotateCw />
          </IconButton>
        )}
        <IconButton label={t("Delete")} onClick={onDelete}>
          <Trash2 />
        </IconButton>
      </div>
    </article>
  );
}

function FileState({ file }: { file: KnownFile }) {
  if (file.status === "ready") return <Status tone="good">{tn("{n} passage", "{n} passages", file.chunks)}</Status>;
  if (file.status === "failed") return <Status tone="bad">{t("Could not be read")}</Status>;
  return <Status tone="busy">{file.status === "queued" ? t("Waits to be read") : t("Being read")}</Status>;
}

function Progress({ written, expected }: KnownFile["progress"]) {
  const words = t("{written} of {expected} passages", {
    written: formatNumber(written),
    expected: formatNumber(expected),
  });
  return (
    <div className="flex items-center gap-3">
      <progress
        value={written}
        max={expected}
        aria-label={t("Being read")}
        className="h-1.5 w-40 overflow-hidden rounded-full [&::-webkit-progress-bar]:bg-well [&::-webkit-progress-value]:bg-sea"
      />
      <span className="text-soft text-sm">{words}</span>
    </div>
  );
}

function Problem({ file: { status, errorCode, error, chunks } }: { file: KnownFile }) {
  const known = PROBLEMS[errorCode ?? ""];
  return (
    <div className="max-w-prose text-sm">
      <p className={status === "failed" ? "text-bad" : "text-warn"}>
        {known ? t(known) : visibleText(said(error ?? ""))}
      </p>
      {status !== "failed" && <p className="text-soft">{t("It is tried again by itself.")}</p>}
      {chunks > 0 && <p className="text-soft">{t("Until then the agent uses what it read before.")}</p>}
    </div>
  );
}
