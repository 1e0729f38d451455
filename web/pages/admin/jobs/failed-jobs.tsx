// Jobs that were given up: why, and buttons to try each again or to discard it.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, path } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { Table } from "../../../parts/lists/table.tsx";
import { showError, showToast, withUndo } from "../../../parts/toast.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatNumber, said, t, tn } from "../../../viewer/language.ts";
import type { FailedJob } from "../api-types.ts";

export function FailedJobs({ jobs }: { jobs: readonly FailedJob[] }) {
  const client = useQueryClient();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const refresh = () => client.invalidateQueries({ queryKey: ["admin", "jobs"] });
  const show = (id: string) => setHidden((before) => new Set([...before].filter((one) => one !== id)));
  const hide = (id: string) => {
    setHidden((before) => new Set([...before, id]));
    return () => show(id);
  };
  const retry = useMutation({
    mutationFn: (id: string) => api.post(path`/api/admin/jobs/${id}/retry`),
    onSuccess: () => showToast(t("The job is tried again.")),
    onError: (error) => showError(messageOf(error)),
    onSettled: () => void refresh(),
  });
  const discard = (id: string) =>
    withUndo(
      t("The job is discarded."),
      () => hide(id),
      async () => {
        await api.delete(path`/api/admin/jobs/${id}`);
        await refresh();
      },
    );
  return (
    <Table
      isStacked
      label={t("Failed for good")}
      rows={jobs.filter(({ id }) => !hidden.has(id))}
      keyOf={({ id }) => id}
      columns={[
        {
          key: "kind",
          head: t("Kind"),
          cell: ({ kind, attempts }) => (
            <>
              <code className="font-mono text-sm md:whitespace-nowrap">{kind}</code>
              <span className="block text-soft text-sm">{tn("{n} try", "{n} tries", attempts)}</span>
            </>
          ),
        },
        {
          key: "error",
          head: t("Why"),
          cell: ({ error }) => (
            <span className="block max-w-prose md:min-w-48">
              {error === null ? t("No reason was given.") : said(error)}
            </span>
          ),
        },
        { key: "created", head: t("Made"), cell: ({ createdAt }) => <When at={createdAt} /> },
        {
          key: "actions",
          head: t("Actions"),
          cell: ({ id }) => (
            <div className="flex flex-wrap gap-2 whitespace-nowrap md:flex-nowrap">
              <Button isBusy={retry.isPending && retry.variables === id} onClick={() => retry.mutate(id)}>
                {t("Try again")}
              </Button>
              <Button look="danger" onClick={() => discard(id)}>
                {t("Discard")}
              </Button>
            </div>
          ),
        },
      ]}
    />
  );
}

/** Tries these jobs again, one after the other, so that each is in the audit log; stops at the first that the server refuses. */
export function RetryAll({ jobs }: { jobs: readonly FailedJob[] }) {
  const client = useQueryClient();
  const [done, setDone] = useState(0);
  const retryAll = useMutation({
    async mutationFn() {
      setDone(0);
      for (const [index, { id }] of jobs.entries()) {
        await api.post(path`/api/admin/jobs/${id}/retry`).catch(unlessGone);
        setDone(index + 1);
      }
    },
    onSuccess: () => showToast(tn("{n} job is tried again.", "{n} jobs are tried again.", jobs.length)),
    onError: (error) => showError(messageOf(error)),
    onSettled: () => void client.invalidateQueries({ queryKey: ["admin", "jobs"] }),
  });
  return (
    <Button disabled={retryAll.isPending} onClick={() => retryAll.mutate()}>
      {retryAll.isPending
        ? t("{done} of {all} …", { done: formatNumber(done), all: formatNumber(jobs.length) })
        : t("Try these {n} again", { n: formatNumber(jobs.length) })}
    </Button>
  );
}

/** Somebody else may have retried or discarded a job of the list meanwhile. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error;
}
