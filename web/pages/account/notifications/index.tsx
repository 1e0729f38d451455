// The mails that the account gets, by kind.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { Switch } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showError } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { USER_KEY, type User, useUser } from "../../../session/session.tsx";
import { t, text } from "../../../viewer/language.ts";
import { noMails, useOffers } from "../offers.ts";

const TOPICS = [
  {
    topic: "agent",
    label: text("Agents"),
    hint: text("An agent stopped by itself, or a channel no longer lets its bot in."),
  },
  { topic: "billing", label: text("Plan and budgets"), hint: text("A budget is spent, or your plan changes.") },
  {
    topic: "security",
    label: text("Security"),
    hint: text("Password, two-factor, sign-ins and API keys change. Keep it on."),
  },
  { topic: "referral", label: text("Referral"), hint: text("Somebody came with your code.") },
  { topic: "system", label: text("This service"), hint: text("News of the people who run it.") },
] as const;

export default function NotificationsPage() {
  const user = useUser();
  const { data: offers } = useOffers();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (notifications: Record<string, boolean>) => api.patch<User>("/api/settings", { notifications }),
    onMutate(notifications) {
      const before = queries.getQueryData<User>(USER_KEY);
      queries.setQueryData<User>(
        USER_KEY,
        (known) => known && { ...known, notifications: { ...known.notifications, ...notifications } },
      );
      return before;
    },
    onError(error, _, before) {
      queries.setQueryData(USER_KEY, before);
      showError(messageOf(error));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: USER_KEY }),
  });
  return (
    <Section title={t("Mails")} hint={t("They go to {email}.", { email: user.email })}>
      {offers?.sendsMail === false && (
        <div className="mb-3">
          <Notice tone="warn">
            <p>{noMails()}</p>
          </Notice>
        </div>
      )}
      {!user.emailVerified && (
        <div className="mb-3">
          <Notice tone="warn">
            <p>{t("This address is not verified, so it gets no mails but those that verify it.")}</p>
          </Notice>
        </div>
      )}
      <ul className="-my-2">
        {TOPICS.map(({ topic, label, hint }) => (
          <li key={topic} className="flex items-center gap-4 border-edge border-b py-3 last:border-b-0">
            <div className="min-w-0 flex-1">
              <p className="font-medium">{t(label)}</p>
              <p className="text-soft text-sm">{t(hint)}</p>
            </div>
            <Switch
              label={t(label)}
              isLabelHidden
              isOn={user.notifications[topic] ?? true}
              onChange={(isOn) => save.mutate({ [topic]: isOn })}
            />
          </li>
        ))}
      </ul>
    </Section>
  );
}
