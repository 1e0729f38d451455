// The dialog that makes an agent: from a template, with a name, a model and the first instructions; then it opens its chat.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/api.ts";
import { ApiError, issueAt } from "../../api/errors.ts";
import { randomKey } from "../../api/random-key.ts";
import { OVERVIEW_KEY } from "../../data/agents.ts";
import { FROM_SCRATCH, IN_LANGUAGE, type Template, useTemplates } from "../../data/templates.ts";
import { ModelChoice, type ModelValue } from "../../parts/agents/model-choice.tsx";
import { TemplateIcon } from "../../parts/agents/template-icon.tsx";
import { ErrorNote, messageOf } from "../../parts/error-note.tsx";
import { TextAreaField, TextField } from "../../parts/forms/field.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Notice } from "../../parts/values/status.tsx";
import { useNavigate } from "../../viewer/address.ts";
import { t, tn } from "../../viewer/language.ts";
import { viewerZone } from "../../viewer/time-zone.ts";
import { type FileImport, FromFile, useFileImport } from "./from-file.tsx";

interface Props {
  template: string;
  onClose: () => void;
}

export default function NewAgentDialog({ template: wanted, onClose }: Props) {
  const { data: templates, error: templatesError, refetch } = useTemplates();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState(wanted || "assistant");
  const [typedName, setTypedName] = useState<string>();
  const [typedInstructions, setTypedInstructions] = useState<string>();
  const [model, setModel] = useState<ModelValue>({ choice: "model_a", own: "" });
  const beginning = useRef<HTMLFieldSetElement>(null);
  // The templates are the first field, and may come after the dialog has opened.
  useEffect(() => {
    if (templates && document.activeElement === beginning.current)
      beginning.current?.querySelector<HTMLElement>(":checked")?.focus();
  }, [templates]);
  const attempt = useRef({ body: "", key: "" });
  const fileImport = useFileImport((id) => {
    onClose();
    navigate(`/agents/${id}`);
  });

  const template = templates?.find(({ id }) => id === chosen);
  const name = typedName ?? template?.name ?? (chosen === FROM_SCRATCH ? t("New agent") : "");
  const instructions = typedInstructions ?? instructionsOf(template);

  const create = useMutation({
    mutationFn: () => {
      const body = requestOf({ template, name, instructions, model });
      // A repeated press after a lost answer must not make two agents; after a refusal it asks anew.
      const text = JSON.stringify(body);
      if (attempt.current.body !== text || create.error instanceof ApiError)
        attempt.current = { body: text, key: randomKey() };
      return call<{ agent: { id: string } }>("POST", "/api/agents/provision", {
        body,
        headers: IN_LANGUAGE,
        idempotencyKey: attempt.current.key,
      });
    },
    onSuccess({ agent: { id } }) {
      void client.invalidateQueries({ queryKey: OVERVIEW_KEY });
      onClose();
      navigate(`/agents/${id}/chat`);
    },
  });

  const fields = () => (
    <>
      <TextField
        label={t("Name")}
        hint={t("People see it in the chat. You can change it at any time.")}
        required
        maxLength={64}
        value={name}
        error={issueAt(create.error, "name")}
        onChange={(event) => setTypedName(event.target.value)}
      />
      <div>
        <h3 className="mb-1.5 font-medium">{t("Model")}</h3>
        <ModelChoice
          value={model}
          error={issueAt(create.error, "model") ?? issueAt(create.error, "config.model")}
          onChange={setModel}
        />
      </div>
      <TextAreaField
        label={t("What it should do")}
        hint={t("Write as you would to a new colleague. Fill in what stands in [brackets].")}
        rows={9}
        value={instructions}
        error={issueAt(create.error, "instructions")}
        onChange={(event) => setTypedInstructions(event.target.value)}
      />
      {template && <NextSteps steps={template.next} />}
    </>
  );

  return (
    <FormDialog
      title={t("New agent")}
      width="wide"
      {...(chosen === FROM_FILE
        ? fileForm(fileImport, (id) => {
            onClose();
            navigate(`/agents/${id}`);
          })
        : {
            action: t("Make the agent"),
            isBusy: create.isPending,
            // The templates may come after the dialog has opened.
            isIncomplete: !template && chosen !== FROM_SCRATCH,
            onSubmit: () => create.mutate(),
          })}
      onClose={onClose}
    >
      {create.error && chosen !== FROM_FILE && <Refusal error={create.error} />}
      {templatesError && <ErrorNote error={templatesError} onRetry={() => void refetch()} />}
      <fieldset ref={beginning} tabIndex={-1} data-autofocus className="outline-none">
        <legend className="mb-1.5 font-medium">{t("Begin with")}</legend>
        {templates ? (
          <div className="grid gap-2 sm:grid-cols-2">
            {[...templates, emptyTemplate(), fileTemplate()].map((one) => (
              <label
                key={one.id}
                className="flex items-start gap-2.5 rounded-large border border-line p-2.5 transition-colors hover:bg-hover has-checked:border-sea has-checked:bg-wash has-focus-visible:outline-2 has-focus-visible:outline-sea"
              >
                <input
                  type="radio"
                  name="template"
                  value={one.id}
                  checked={one.id === chosen}
                  onChange={() => setChosen(one.id)}
                  className="sr-only"
                />
                <TemplateIcon id={one.id} />
                <span className="min-w-0">
                  <span className="block font-medium">{one.name}</span>
                  <span className="block text-soft text-sm">{one.description}</span>
                </span>
              </label>
            ))}
          </div>
        ) : (
          !templatesError && <Skeleton className="h-56" />
        )}
      </fieldset>
      {chosen === FROM_FILE ? <FromFile state={fileImport} /> : fields()}
    </FormDialog>
  );
}

const emptyTemplate = (): Template => ({
  id: FROM_SCRATCH,
  name: t("Empty"),
  description: t("Without instructions, to write your own from scratch."),
  config: {},
  next: [],
});

const FROM_FILE = "file";
const fileTemplate = (): Template => ({
  id: FROM_FILE,
  name: t("From a file"),
  description: t("Of OpenClaw, elizaOS, a character card, or another Berth."),
  config: {},
  next: [],
});

/** The dialog's button while an agent is made of a file. */
function fileForm({ file, preview, create, wasImported }: FileImport, open: (agentId: string) => void) {
  const made = create.data;
  if (made) return { action: t("Open the agent"), onSubmit: () => open(made.agent.id) };
  return {
    action: wasImported ? t("Make another one") : t("Make the agent"),
    error: create.error,
    isBusy: create.isPending,
    isIncomplete: !file || !preview.data,
    onSubmit: () => create.mutate(wasImported),
  };
}

/** What the template suggests for later, when the agent is there. */
const NextSteps = ({ steps }: { steps: Template["next"] }) => (
  <div>
    <h3 className="mb-1 font-medium">{t("What to do next")}</h3>
    <ol className="list-decimal space-y-0.5 pl-5 text-soft">
      {steps.map(({ text }) => (
        <li key={text}>{text}</li>
      ))}
    </ol>
  </div>
);

const instructionsOf = (template: Template | undefined): string =>
  typeof template?.config.instructions === "string" ? template.config.instructions : "";

interface Draft {
  template: Template | undefined;
  name: string;
  instructions: string;
  model: ModelValue;
}

/** The template is named, and only what differs from it is sent along, with the zone in which the agent lives. */
function requestOf({ template, name, instructions, model }: Draft) {
  const isOwnModel = model.choice === "custom" && model.own !== "";
  const config = {
    timezone: viewerZone,
    ...(instructions !== instructionsOf(template) && { instructions }),
    ...(isOwnModel && { model: model.own }),
  };
  return {
    name,
    model: isOwnModel || model.choice !== "custom" ? model.choice : "model_a",
    ...(template && { template: template.id }),
    config,
  };
}

/** Why no agent was made, and what to do about it. */
function Refusal({ error }: { error: Error }) {
  if (!(error instanceof ApiError) || ![402, 429].includes(error.status)) return <ErrorNote error={error} />;
  const { current, limit } = error.body;
  const isFull = error.code === "AGENT_LIMIT_REACHED" && typeof limit === "number";
  return (
    <Notice tone="warn">
      <div role="alert" className="flex flex-col gap-1 text-ink">
        <p className="font-semibold">
          {isFull
            ? tn("Your plan has room for {n} agent", "Your plan has room for {n} agents", limit)
            : error.status === 402
              ? t("Your account has no plan yet")
              : t("Too many requests")}
        </p>
        <p>
          {isFull
            ? t("You have {current}. Remove one you no longer need, or choose a larger plan.", {
                current: Number(current),
              })
            : error.status === 402
              ? t("Agents need a plan. Choose one, or ask the person who runs this server to give you one.")
              : messageOf(error)}
        </p>
        {(isFull || error.status === 402) && (
          <Link href="/usage" className="font-medium text-sea underline">
            {t("See plans and budgets")}
          </Link>
        )}
      </div>
    </Notice>
  );
}
