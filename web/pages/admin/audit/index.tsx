// What people, admins, keys, agents and the command line changed: by whom, of what, when.

import { useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { SelectField, TextField } from "../../../parts/forms/field.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { MoreButton } from "../../../parts/lists/more-button.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Page } from "../../../parts/page/page.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t, tn } from "../../../viewer/language.ts";
import type { AuditPage } from "../api-types.ts";
import { ACTIONS, AuditTable, actionLabel } from "./audit-table.tsx";

const DAY_MS = 86_400_000;
/** The begin of a day in the viewer's zone, as the API wants it. */
const timeOf = (day: string, more = 0): string | undefined => {
  const at = new Date(`${day}T00:00`).getTime();
  return day && !Number.isNaN(at) ? new Date(at + more).toISOString() : undefined;
};

export default function AuditLogPage() {
  const [actor, setActor] = useParameter("actor");
  const [user, setUser] = useParameter("user");
  const [action, setAction] = useParameter("action");
  const [from, setFrom] = useParameter("from");
  const [to, setTo] = useParameter("to");
  const query = useInfiniteQuery({
    queryKey: ["admin", "audit", actor, user, action, from, to],
    queryFn: ({ pageParam }) =>
      api.get<AuditPage>("/api/admin/audit", {
        actor: actor || undefined,
        user: user || undefined,
        action: action || undefined,
        from: timeOf(from),
        to: timeOf(to, DAY_MS),
        limit: 50,
        cursor: pageParam || undefined,
      }),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const total = query.data?.pages[0]?.total;
  const isFiltered = [actor, user, action, from, to].some((value) => value !== "");
  const clear = () => {
    for (const set of [setActor, setUser, setAction, setFrom, setTo]) set("");
  };
  return (
    <Page
      title={t("Audit log")}
      intro={
        total === undefined
          ? t("Kept for two years; nobody can change it.")
          : tn(
              "{n} entry. Kept for two years; nobody can change it.",
              "{n} entries. Kept for two years; nobody can change it.",
              total,
            )
      }
    >
      <div className="mb-4 grid items-end gap-3 sm:grid-cols-2 lg:grid-cols-3">
        <SearchField label={t("Who: whole email address")} value={actor} onSearch={setActor} />
        <SearchField label={t("What: address, id or name")} value={user} onSearch={setUser} />
        <SelectField
          label={t("Action")}
          isLabelHidden
          value={action}
          onChange={(event) => setAction(event.target.value)}
        >
          <option value="">{t("Every action")}</option>
          {Object.keys(ACTIONS).map((name) => (
            <option key={name} value={name}>
              {actionLabel(name)}
            </option>
          ))}
        </SelectField>
        <TextField label={t("From")} type="date" value={from} onChange={(event) => setFrom(event.target.value)} />
        <TextField label={t("Until")} type="date" value={to} onChange={(event) => setTo(event.target.value)} />
        <Button onClick={clear} disabled={!isFiltered}>
          {t("Show all")}
        </Button>
      </div>
      <Loaded query={query} height="h-80">
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries);
          return entries.length === 0 ? (
            <EmptyState title={t("No entry is like this")}>
              {t(
                "Every change that matters is written down here: sign-ins, passwords, keys, agents, channels, approvals, rights, plans.",
              )}
            </EmptyState>
          ) : (
            <div className="rounded-large border border-edge bg-card px-4 py-2">
              <AuditTable entries={entries} />
            </div>
          );
        }}
      </Loaded>
      <MoreButton query={query} />
    </Page>
  );
}
