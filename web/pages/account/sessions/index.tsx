// The devices that are signed in: this one is marked, each can be signed out.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Laptop, Smartphone, SquareTerminal } from "lucide-react";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t, tn } from "../../../viewer/language.ts";

interface Session {
  id: string;
  current: boolean;
  createdAt: string;
  lastUsedAt: string;
  address: string;
  userAgent: string;
  label: string;
}

interface SessionList {
  sessions: Session[];
  count: number;
}

const KEY = ["sessions"] as const;

export default function SessionsPage() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<SessionList>("/api/auth/sessions"),
  });
  const endOthers = useMutation({
    mutationFn: () => api.delete<{ count: number }>("/api/auth/sessions"),
    onSuccess: ({ count }) => showToast(tn("{n} device is signed out", "{n} devices are signed out", count)),
    onError: (failure) => showError(messageOf(failure)),
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  const others = data?.sessions.filter(({ current }) => !current).length ?? 0;
  return (
    <Section
      title={t("Devices")}
      hint={t("Where your account is signed in. Sign out what you don't know, then choose a new password.")}
      actions={
        others > 0 && (
          <Button isBusy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            {t("Sign out all others")}
          </Button>
        )
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-24" />}
      <ul className="-my-2">
        {data?.sessions.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
    </Section>
  );
}

function SessionRow({ session }: { session: Session }) {
  const { id, current, createdAt, lastUsedAt, address, userAgent } = session;
  const queries = useQueryClient();
  const label = session.label || t("Unknown device");
  const end = useMutation({
    mutationFn: () => api.delete(path`/api/auth/sessions/${id}`),
    onMutate() {
      const before = queries.getQueryData<SessionList>(KEY);
      queries.setQueryData<SessionList>(KEY, (list) => list && without(list, id));
      return before;
    },
    onSuccess: () => showToast(t("{device} is signed out", { device: label })),
    onError(failure, _, before) {
      queries.setQueryData(KEY, before);
      showError(messageOf(failure));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  const Icon = iconOf(session.label);
  return (
    <li className="flex items-center gap-3 border-edge border-b py-2.5 last:border-b-0">
      <Icon className="size-5 shrink-0 text-soft" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 font-medium">
          <span title={userAgent}>{label}</span>
          {current && <Badge tone="good">{t("This device")}</Badge>}
        </p>
        <p className="text-soft text-sm">
          {t("Signed in")} <When at={createdAt} /> {t("from {address}", { address })}
          {!current && (
            <>
              {" · "}
              {t("last used")} <When at={lastUsedAt} />
            </>
          )}
        </p>
      </div>
      {!current && (
        <Button onClick={() => end.mutate()} aria-label={t("Sign out {device}", { device: label })}>
          {t("Sign out")}
        </Button>
      )}
    </li>
  );
}

const without = (list: SessionList, id: string): SessionList => ({
  sessions: list.sessions.filter((session) => session.id !== id),
  count: list.count - 1,
});

function iconOf(label: string) {
  if (/iPhone|iPad|Android/.test(label)) return Smartphone;
  return label === "curl" ? SquareTerminal : Laptop;
}
