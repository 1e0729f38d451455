// The second step: an agent made from a template.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { api, call } from "../../../api/api.ts";
import { randomKey } from "../../../api/random-key.ts";
import { NoRoom } from "../../../app/no-room.tsx";
import { useModelChoices } from "../../../data/models.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Tiles } from "../../../parts/forms/tiles.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { language, rich, t } from "../../../viewer/language.ts";
import { viewerZone } from "../../../viewer/time-zone.ts";
import { useProviders } from "../providers.ts";
import { StepPage } from "./frame.tsx";
import type { Setup } from "./setup.ts";

interface Template {
  id: string;
  name: string;
  description: string;
}

interface Props {
  /** The step of the model did not appear, because a found Ollama answers already. */
  isModelFound: boolean;
  setup: Setup;
  onDone: () => void;
  onSkip: () => void;
}

export function AgentStep({ isModelFound, setup: { agent, canMakeAgents }, onDone, onSkip }: Props) {
  return (
    <StepPage
      title={t("Make your first agent")}
      intro={t("Choose what it should be good at. Everything can be changed later, in plain words.")}
      onSkip={agent ? undefined : onSkip}
    >
      {isModelFound && <FoundModel />}
      {agent && (
        <Notice tone="good">
          <p>{t("{name} is there already.", { name: agent.name })}</p>
          <Button look="primary" onClick={onDone}>
            {t("Go on with {name}", { name: agent.name })}
          </Button>
        </Notice>
      )}
      {canMakeAgents ? <MakeAgent isFirst={!agent} onDone={onDone} /> : !agent && <NoRoom />}
    </StepPage>
  );
}

/** Says which model a found Ollama answers with, since nobody was asked. */
function FoundModel() {
  const { data } = useProviders();
  const { data: models } = useModelChoices();
  const model = models?.choices.model_a.name;
  if (data?.serving !== "ollama" || !model) return null;
  return (
    <Notice>
      <p>
        {rich(
          "{model} answers, from the Ollama on this machine: it costs nothing, and nothing leaves the machine. <a>Choose another</a>",
          {
            a: (words, key) => (
              <Link key={key} href="/welcome?step=model" className="text-sea underline">
                {words}
              </Link>
            ),
          },
          { model },
        )}
      </p>
    </Notice>
  );
}

function MakeAgent({ isFirst, onDone }: { isFirst: boolean; onDone: () => void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["templates", language],
    queryFn: () =>
      call<{ templates: Template[] }>("GET", "/api/templates", { headers: { "accept-language": language } }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [chosen, setChosen] = useState("");
  const [typedName, setTypedName] = useState<string>();
  const template = data?.templates.find(({ id }) => id === chosen) ?? data?.templates[0];
  const name = typedName ?? template?.name ?? "";
  // The same for the same wish, so that a second try after a lost answer makes no second agent.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another wish needs another key
  const idempotencyKey = useMemo(() => randomKey(), [template?.id, name]);
  const make = useMutation({
    mutationFn: (body: { name: string; template: string }) =>
      api.post(
        "/api/agents/provision",
        { ...body, config: { timezone: viewerZone } },
        {
          idempotencyKey,
          headers: { "accept-language": language },
        },
      ),
    onSuccess: onDone,
  });
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data || !template) return <Skeleton className="h-64" />;
  const submit = () => {
    if (!make.isPending) make.mutate({ name: name.trim(), template: template.id });
  };
  return (
    <Form onSubmit={submit} className="flex flex-col gap-4">
      <Tiles
        label={t("What should it be?")}
        value={template.id}
        onChange={setChosen}
        options={data.templates.map(({ id, name: label, description }) => ({ value: id, label, hint: description }))}
      />
      <TextField
        label={t("Its name")}
        hint={t("People see it in chats.")}
        maxLength={64}
        value={name}
        onChange={(event) => setTypedName(event.target.value)}
        required
      />
      {make.error && <ErrorNote error={make.error} />}
      <div>
        <Button type="submit" look={isFirst ? "primary" : "quiet"} isBusy={make.isPending}>
          {isFirst ? t("Make the agent") : t("Make another one")}
        </Button>
      </div>
    </Form>
  );
}
