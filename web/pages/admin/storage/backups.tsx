// Backups of the whole service: made with one click, with their progress, to download or delete.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { type Column, Table } from "../../../parts/lists/table.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showError, withUndo } from "../../../parts/toast.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatBytes, formatNumber, t } from "../../../viewer/language.ts";
import type { Backup } from "../api-types.ts";

export function Backups({ backups, isFile }: { backups: readonly Backup[]; isFile: boolean }) {
  const client = useQueryClient();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const refresh = () => client.invalidateQueries({ queryKey: ["admin", "storage"] });
  const make = useMutation({
    mutationFn: () => api.post("/api/admin/backups"),
    onError: (error) => showError(messageOf(error)),
    onSettled: () => void refresh(),
  });
  const remove = (name: string) =>
    withUndo(
      t("The backup is deleted."),
      () => {
        setHidden((before) => new Set([...before, name]));
        return () => setHidden((before) => new Set([...before].filter((one) => one !== name)));
      },
      async () => {
        await api.delete(path`/api/admin/backups/${name}`);
        await refresh();
      },
    );
  const isWorking = backups.some(({ state }) => state === "running" || state === "waiting");
  const shown = backups.filter(({ name }) => !hidden.has(name));
  return (
    <Section
      title={t("Backups")}
      hint={t(
        "Everything of all accounts with their files, but not the key that opens the secrets: keep “secret.key” apart.",
      )}
      {...(isFile && {
        actions: (
          <Button look="primary" isBusy={make.isPending || isWorking} onClick={() => make.mutate()}>
            {isWorking ? t("Is being made …") : t("Make a backup now")}
          </Button>
        ),
      })}
    >
      {!isFile && <p className="text-soft">{t("The database is on a server. Use that server’s own backups.")}</p>}
      {isFile && shown.length === 0 && (
        <p className="max-w-prose text-soft">
          {t(
            "No backup here yet. The copy is checked, and the service goes on meanwhile. To restore one, stop Berth and run “berth restore BACKUP”.",
          )}
        </p>
      )}
      {shown.length > 0 && (
        <Table label={t("Backups")} rows={shown} keyOf={({ name }) => name} columns={columns(remove)} />
      )}
    </Section>
  );
}

const columns = (remove: (name: string) => void): Column<Backup>[] => [
  {
    key: "name",
    head: t("File"),
    cell: ({ name, createdAt }) => (
      <>
        <When at={createdAt} isExact />
        <code className="block font-mono text-soft text-sm">{name}</code>
      </>
    ),
  },
  { key: "state", head: t("State"), cell: (backup) => <BackupState {...backup} /> },
  { key: "bytes", head: t("Size"), isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
  {
    key: "actions",
    head: t("Actions"),
    cell: ({ name, state }) =>
      state === "done" && (
        <div className="flex gap-2">
          <a
            href={path`/api/admin/backups/${name}/file`}
            download={name}
            aria-label={`${t("Download")}: ${name}`}
            className="inline-flex min-h-8 items-center gap-1.5 rounded-round border border-line bg-card px-3 py-1 font-medium hover:bg-hover"
          >
            <Download className="size-4" aria-hidden="true" />
            {t("Download")}
          </a>
          <Button look="danger" onClick={() => remove(name)} aria-label={`${t("Delete")}: ${name}`}>
            {t("Delete")}
          </Button>
        </div>
      ),
  },
];

function BackupState({ state, progress, error }: Backup) {
  if (state === "done") return <Status tone="good">{t("Checked")}</Status>;
  if (state === "failed") {
    return (
      <div className="max-w-80">
        <Status tone="bad">{t("Failed")}</Status>
        <p className="text-sm">{error}</p>
      </div>
    );
  }
  return (
    <div role="status" className="flex min-w-32 flex-col gap-1">
      <Status tone="busy">
        {t("Is being made: {share}", { share: formatNumber(progress, { style: "percent" }) })}
      </Status>
      <progress
        aria-label={t("Progress of the backup")}
        value={progress}
        max={1}
        className="h-1.5 w-full accent-fill"
      />
    </div>
  );
}
