// The set-up of an agent: instructions, model, style, budget; or the whole configuration as JSON.

import { useEffect, useEffectEvent, useState } from "react";
import { ApiError } from "../../../api/errors.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { useNavigate, useParameter } from "../../../viewer/address.ts";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { useCurrentConfig } from "../config/config-data.ts";
import { keyWords } from "../config/key-words.ts";
import { Budget } from "./budget.tsx";
import { Cache } from "./cache.tsx";
import { Conflict } from "./conflict.tsx";
import { type SetUp, type Stored, useDraft } from "./draft.ts";
import { Instructions } from "./instructions.tsx";
import { JsonView } from "./json/json-view.tsx";
import { ModelSection } from "./model-section.tsx";
import { Pictures } from "./pictures.tsx";
import { isConflict, useSave } from "./save.ts";
import { SaveBar } from "./save-bar.tsx";
import { Style } from "./style.tsx";
import { Voice } from "./voice.tsx";

export default function SetUpPage() {
  const { id, model } = useAgent();
  const { data, error, refetch } = useCurrentConfig(id);
  if (data) return <SetUpForm key={id} id={id} stored={{ ...data, choice: model }} />;
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return (
    <div role="status" className="flex flex-col gap-5">
      <span className="sr-only">{t("Loading…")}</span>
      <Skeleton className="h-96" />
      <Skeleton className="h-48" />
    </div>
  );
}

/** The paths that have a field of their own. */
const FIELDS = [
  "instructions",
  "model",
  "temperature",
  "topP",
  "maxTokens",
  "budget",
  "timezone",
  "transcription",
  "voice",
  "pictures",
];

function SetUpForm({ id, stored }: { id: string; stored: Stored }) {
  const draft = useDraft(id, stored);
  const save = useSave(id);
  const [view, setView] = useParameter("view");
  // The text of the JSON view while it is no valid JSON.
  const [broken, setBroken] = useState<string>();
  const isJson = view === "json";
  const { current, isDirty } = draft;
  useLeaveNote(id, isDirty);

  const issues = save.error instanceof ApiError ? save.error.issues : [];
  const warnings = (!isDirty && save.data?.warnings) || [];
  const noteAt = (path: string) =>
    [...issues, ...warnings].find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message;
  const others = [...issues, ...warnings].filter(({ path }) => !FIELDS.includes(path.split(/[.[]/)[0] ?? ""));
  const submit = (next: SetUp, from: Stored) =>
    save.mutate({ next, from }, { onSuccess: (saved) => draft.settle(current, saved) });
  const submitDraft = () => {
    if (isDirty && broken === undefined) submit(current, draft.from);
  };
  const field = { config: current.config, setKey: draft.setKey, noteAt };

  return (
    <Form
      onSubmit={() => {
        submitDraft();
      }}
    >
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <p className="text-soft">{t("Who this agent is, how it thinks, and what it may cost.")}</p>
        <Choice
          label={t("View")}
          value={isJson ? "json" : "form"}
          onChange={(next) => {
            setBroken(undefined);
            setView(next === "json" ? "json" : "");
          }}
          options={[
            { value: "form", label: t("Form") },
            { value: "json", label: "JSON" },
          ]}
        />
      </div>
      {draft.hasConflict && <Conflict draft={draft} stored={stored} isBusy={save.isPending} onSave={submit} />}
      {save.error && !isConflict(save.error) && issues.length === 0 && (
        <ErrorNote error={save.error} onRetry={submitDraft} />
      )}
      {!isJson && others.length > 0 && (
        <div className="mb-5">
          <Notice tone={issues.length > 0 ? "bad" : "warn"}>
            <ul role="alert" className="text-ink">
              {others.map(({ path, message }) => (
                <li key={path + message}>
                  {keyWords(path)} <code className="break-all font-mono text-sm">{path}</code>: {message}
                </li>
              ))}
            </ul>
          </Notice>
        </div>
      )}
      {isJson ? (
        <Section
          title={t("The whole configuration")}
          hint={t("For developers: keys that Berth does not know are kept, too. Secrets do not belong here.")}
        >
          <JsonView
            config={current.config}
            issues={issues}
            warnings={warnings}
            broken={broken}
            onBroken={setBroken}
            onChange={(config) => draft.change({ ...current, config })}
          />
        </Section>
      ) : (
        <>
          <Instructions {...field} />
          <ModelSection agentId={id} current={current} onChange={draft.change} noteAt={noteAt} />
          <Style {...field} />
          <Voice {...field} />
          <Pictures {...field} />
          <Budget {...field} id={id} />
        </>
      )}
      {!isJson && <Cache id={id} />}
      <SaveBar
        isDirty={isDirty}
        isBusy={save.isPending}
        isBlocked={broken !== undefined || draft.hasConflict}
        onSave={submitDraft}
        onDiscard={() => {
          save.reset();
          setBroken(undefined);
          draft.discard();
        }}
      />
    </Form>
  );
}

/** Tells somebody who goes to another page that their changes are kept, and how to come back. */
function useLeaveNote(id: string, isDirty: boolean): void {
  const navigate = useNavigate();
  const tell = useEffectEvent(() => {
    if (!isDirty) return;
    showToast(t("Your changes are kept in this tab, but not saved."), {
      label: t("Back to them"),
      run: () => navigate(`/agents/${id}/set-up`),
    });
  });
  useEffect(() => () => tell(), []);
}
