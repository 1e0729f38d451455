// The accounts of this server: found by name or address, made, or invited.

import { useInfiniteQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { Link } from "wouter";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { MoreButton } from "../../../parts/lists/more-button.tsx";
import { type Column, Table } from "../../../parts/lists/table.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Page } from "../../../parts/page/page.tsx";
import { Badge, Status } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { planName } from "../../../session/session.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatNumber, t, text } from "../../../viewer/language.ts";
import type { Account } from "../api-types.ts";
import { InviteDialog } from "./invite-dialog.tsx";
import { NewAccountDialog } from "./new-account-dialog.tsx";

const PAGE_SIZE = 50;
const STATES = ["", "active", "frozen", "disabled", "unverified", "admin"] as const;
const LABELS = {
  "": text("All"),
  active: text("Active"),
  frozen: text("Frozen"),
  disabled: text("Disabled"),
  unverified: text("Not verified"),
  admin: text("Admins"),
} as const;

interface AccountPage {
  users: Account[];
  total: number;
  offset: number;
}

export default function UsersPage() {
  const [sought, setSought] = useParameter("query");
  const [stateText, setState] = useParameter("status");
  const [dialog, setDialog] = useParameter("new");
  const state = STATES.find((one) => one === stateText) ?? "";
  const query = useInfiniteQuery({
    queryKey: ["admin", "users", sought, state],
    queryFn: ({ pageParam }) =>
      api.get<AccountPage>("/api/admin/users", {
        query: sought || undefined,
        status: state || undefined,
        limit: PAGE_SIZE,
        offset: pageParam,
      }),
    initialPageParam: 0,
    getNextPageParam: ({ users, total, offset }) => (offset + users.length < total ? offset + users.length : undefined),
  });
  const total = query.data?.pages[0]?.total;
  const isFiltered = sought !== "" || state !== "";
  return (
    <Page
      title={t("Accounts")}
      intro={total === undefined ? undefined : t("{count} found", { count: formatNumber(total) })}
      actions={
        <>
          <Button onClick={() => setDialog("invitation")}>{t("Invite")}</Button>
          <Button look="primary" onClick={() => setDialog("account")}>
            <UserPlus aria-hidden="true" />
            {t("New account")}
          </Button>
        </>
      }
    >
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-[1_1_16rem]">
          <SearchField label={t("Name or email address")} value={sought} onSearch={setSought} />
        </div>
        <Choice
          label={t("Which accounts")}
          value={state}
          options={STATES.map((value) => ({ value, label: t(LABELS[value]) }))}
          onChange={setState}
        />
      </div>
      <Loaded query={query} height="h-80">
        {({ pages }) => {
          const users = pages.flatMap((page) => page.users);
          if (users.length === 0) {
            return (
              <EmptyState title={t("No account is like this")}>
                {isFiltered && t("Try fewer letters, or choose “All”.")}
              </EmptyState>
            );
          }
          return (
            <div className="rounded-large border border-edge bg-card px-4 py-2">
              <Table isStacked label={t("Accounts")} columns={columns()} rows={users} keyOf={({ id }) => id} />
            </div>
          );
        }}
      </Loaded>
      <MoreButton query={query} />
      {dialog === "account" && <NewAccountDialog onClose={() => setDialog("")} />}
      {dialog === "invitation" && <InviteDialog onClose={() => setDialog("")} />}
    </Page>
  );
}

const columns = (): Column<Account>[] => [
  {
    key: "name",
    head: t("Account"),
    cell: ({ id, name, email }) => (
      <Link href={`/admin/users/${id}`} className="block min-w-40">
        <span className="font-medium text-sea underline-offset-2 hover:underline">{name || email}</span>
        <span className="block text-soft text-sm">{email}</span>
      </Link>
    ),
  },
  { key: "state", head: t("State"), cell: (account) => <AccountState {...account} /> },
  {
    key: "plan",
    head: t("Plan"),
    cell: ({ plan, subscription }) => (
      <>
        <span className="whitespace-nowrap">{planName(plan)}</span>
        {subscription && !subscription.active && (
          <span className="block text-soft text-sm">{t("Subscription ended")}</span>
        )}
      </>
    ),
  },
  { key: "credits", head: t("Credits"), isNumber: true, cell: ({ credits }) => formatNumber(credits) },
  {
    key: "safety",
    head: t("Second factor"),
    cell: ({ twoFactorEnabled }) => (twoFactorEnabled ? t("On") : <span className="text-soft">{t("Off")}</span>),
  },
  { key: "since", head: t("Since"), cell: ({ createdAt }) => <When at={createdAt} /> },
];

export const AccountState = ({ disabled, frozen, emailVerified, isAdmin }: Account) => (
  <span className="flex flex-wrap items-center gap-2">
    {disabled ? (
      <Status tone="idle">{t("Disabled")}</Status>
    ) : frozen ? (
      <Status tone="warn">{t("Frozen")}</Status>
    ) : emailVerified ? (
      <Status tone="good">{t("Active")}</Status>
    ) : (
      <Status tone="busy">{t("Not verified")}</Status>
    )}
    {isAdmin && <Badge tone="busy">{t("Admin")}</Badge>}
  </span>
);
