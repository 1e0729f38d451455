// Switches of an account: whether it may sign in, whether it administers this server, whether its address is verified.

import { api, path } from "../../../api/api.ts";
import { Switch } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { useUser } from "../../../session/session.tsx";
import { formatNumber, t } from "../../../viewer/language.ts";
import type { AccountDetail } from "../api-types.ts";
import { useAccountChange } from "./use-account-change.ts";

interface Change {
  body: { disabled?: boolean; isAdmin?: boolean; emailVerified?: boolean; limitsLifted?: boolean };
  /** What to say, with the change that takes it back. */
  said?: { message: string; undo: Change["body"] };
}

export function AccountActions({ account }: { account: AccountDetail }) {
  const isSelf = useUser().id === account.id;
  const change = useAccountChange<Change>(
    account.id,
    ({ body }) => api.patch<AccountDetail>(path`/api/admin/users/${account.id}`, body),
    ({ said }) => {
      if (said) showToast(said.message, { label: t("Undo"), run: () => change.mutate({ body: said.undo }) });
    },
  );
  const rows = [
    {
      label: t("May sign in"),
      hint: t(
        "If not: signed out everywhere, API keys are refused, and its agents stop until their owner starts them.",
      ),
      isOn: !account.disabled,
      isFixed: isSelf,
      onChange: (isOn: boolean) =>
        change.mutate({
          body: { disabled: !isOn },
          said: {
            message: isOn ? t("The account may sign in again.") : t("The account is disabled, its agents stop."),
            undo: { disabled: isOn },
          },
        }),
    },
    {
      label: t("Administers this server"),
      hint: t("Sees all accounts, costs and settings, and can change them."),
      isOn: account.isAdmin,
      isFixed: isSelf,
      onChange: (isOn: boolean) =>
        change.mutate({
          body: { isAdmin: isOn },
          said: {
            message: isOn ? t("The account is an admin now.") : t("The account is no admin any more."),
            undo: { isAdmin: !isOn },
          },
        }),
    },
    {
      label: t("Email address is verified"),
      hint: t("Turn it on if you know whose address it is."),
      isOn: account.emailVerified,
      isFixed: false,
      onChange: (isOn: boolean) => change.mutate({ body: { emailVerified: isOn } }),
    },
    ...(account.newAccount || account.limitsLifted
      ? [
          {
            label: t("Without the limits of new accounts"),
            hint: account.newAccount
              ? t("Now it may use {percent} % of its limits, and a little more each day.", {
                  percent: formatNumber(Math.round(account.newAccount.share * 100)),
                })
              : t("It has all of its plan."),
            isOn: account.limitsLifted,
            isFixed: false,
            onChange: (isOn: boolean) => change.mutate({ body: { limitsLifted: isOn } }),
          },
        ]
      : []),
  ];
  return (
    <Section title={t("Rights")} {...(isSelf && { hint: t("This is your own account.") })}>
      <ul className="flex flex-col gap-4">
        {rows.map(({ label, hint, isOn, isFixed, onChange }) => (
          <li key={label} className="flex items-start gap-3">
            <Switch label={label} isLabelHidden isOn={isOn} onChange={onChange} disabled={isFixed} />
            <div>
              <p className="font-medium">{label}</p>
              <p className="text-soft text-sm">{hint}</p>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}
