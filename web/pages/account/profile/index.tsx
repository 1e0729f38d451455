// The profile: name, email address, and the end of the account.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { useTyped } from "../../../parts/forms/use-typed.ts";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { USER_KEY, type User, useUser } from "../../../session/session.tsx";
import { formatTime, t } from "../../../viewer/language.ts";
import { DeletionSection } from "./deletion-section.tsx";
import { EmailSection } from "./email-section.tsx";

export default function ProfilePage() {
  return (
    <>
      <NameSection />
      <EmailSection />
      <DeletionSection />
    </>
  );
}

function NameSection() {
  const { name, createdAt } = useUser();
  const [typed, setTyped] = useTyped(name);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => api.patch<User>("/api/settings", { name: typed }),
    onSuccess(user) {
      queries.setQueryData(USER_KEY, user);
      setTyped(undefined);
      showToast(t("Name saved"));
    },
  });
  return (
    <Section
      title={t("Name")}
      hint={t("Account since {date}", { date: formatTime(Date.parse(createdAt), { dateStyle: "long" }) })}
    >
      <Form
        className="flex flex-wrap items-end gap-2"
        onSubmit={() => {
          save.mutate();
        }}
      >
        <div className="min-w-56 flex-1">
          <TextField
            label={t("What mails and this console call you")}
            value={typed}
            maxLength={200}
            autoComplete="name"
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        <Button type="submit" look="primary" isBusy={save.isPending} disabled={typed.trim() === name}>
          {t("Save")}
        </Button>
      </Form>
      {save.error && (
        <div className="mt-3">
          <ErrorNote error={save.error} />
        </div>
      )}
    </Section>
  );
}
