// The rule by which strangers get an answer or none, and which messages of groups count.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { api } from "../../../api/api.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import {
  type Access,
  type AccessChange,
  accessKey,
  type ChannelKind,
  channelPath,
  connectionsKey,
  useAccess,
} from "./data.ts";

const RULES: readonly { value: string; label: Text; hint: Text }[] = [
  { value: "owner", label: text("Only owners"), hint: text("Others get no answer at all.") },
  {
    value: "pairing",
    label: text("Owners, and people I let in"),
    hint: text("Strangers get a code once; they appear above, and you decide."),
  },
  { value: "allowlist", label: text("Owners, and people on my list"), hint: text("You add them by their ids.") },
  {
    value: "open",
    label: text("Everybody"),
    hint: text("Everybody who finds the bot spends your budget. Set one first, under Set-up."),
  },
];

const GROUPS: readonly { value: string; label: Text }[] = [
  { value: "mention", label: text("When it is mentioned or answered") },
  { value: "all", label: text("To every message it can read") },
  { value: "off", label: text("Never") },
];

export function RulesSection({ kind }: { kind: ChannelKind }) {
  const agent = useAgent();
  const queries = useQueryClient();
  const { data } = useAccess(agent.id, kind.channel);
  const name = useId();
  const queryKey = accessKey(agent.id, kind.channel);
  const write = useMutation({
    mutationFn: (change: AccessChange) => api.put<Access>(channelPath(agent.id, kind.channel, "/access"), change),
    onMutate(change) {
      const before = queries.getQueryData<Access>(queryKey);
      if (before) queries.setQueryData<Access>(queryKey, applied(before, change));
      return before;
    },
    onSuccess(saved) {
      queries.setQueryData(queryKey, saved);
    },
    onError(error, _, before) {
      queries.setQueryData(queryKey, before);
      showError(messageOf(error));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: connectionsKey(agent.id) }),
  });
  if (!data) return <Skeleton className="mb-5 h-48" />;
  const change = (next: AccessChange, back: AccessChange) =>
    write.mutate(next, {
      onSuccess: () => showToast(t("Saved"), { label: t("Undo"), run: () => write.mutate(back) }),
    });
  return (
    <Section title={t("Who gets an answer")}>
      <div className="flex flex-col gap-5">
        <fieldset className="grid gap-2 sm:grid-cols-2">
          <legend className="sr-only">{t("Who gets an answer")}</legend>
          {RULES.map(({ value, label, hint }) => (
            <label
              key={value}
              className="flex gap-2.5 rounded-large border border-line p-3 has-checked:border-sea has-checked:bg-wash"
            >
              <input
                type="radio"
                name={name}
                value={value}
                checked={data.access === value}
                onChange={() => change({ access: value }, { access: data.chosen })}
                className="mt-1 size-4 shrink-0 accent-fill"
              />
              <span>
                <span className="block font-medium">{t(label)}</span>
                <span className="block text-soft text-sm">{t(hint)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {data.hasGroups && (
          <div className="max-w-xs">
            <SelectField
              label={t("In groups it answers")}
              value={data.groups}
              hint={
                kind.channel === "channel_a" && data.groups === "all"
                  ? t(
                      "Also turn off the bot's privacy: write /setprivacy to BotFather, then add the bot to the group again.",
                    )
                  : undefined
              }
              onChange={({ target: { value } }) => change({ groups: value }, { groups: data.groups })}
            >
              {GROUPS.map(({ value, label }) => (
                <option key={value} value={value}>
                  {t(label)}
                </option>
              ))}
            </SelectField>
          </div>
        )}
      </div>
    </Section>
  );
}

const applied = (before: Access, { access, groups }: AccessChange): Access => ({
  ...before,
  ...(access ? { access, chosen: access } : {}),
  ...(groups ? { groups } : {}),
});
