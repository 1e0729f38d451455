// Takes a bot's credentials: says while they are typed what is wrong with them or whose they are, and connects.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Notice, Status } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { Letter } from "./channel-icon.tsx";
import { fieldTexts } from "./credential-texts.ts";
import { type ChannelKind, type CheckedToken, type Connection, channelPath, connectionsKey } from "./data.ts";
import { type Credentials, credentialsBody, TOKEN, useTokenCheck } from "./token-check.ts";

interface Props {
  agentId: string;
  kind: Pick<ChannelKind, "channel" | "label" | "credentials">;
}

interface FormField {
  name: string;
  label: string;
  hint: string | undefined;
  placeholder: string | undefined;
  isSecret: boolean;
}

export function TokenForm({ agentId, kind }: Props) {
  const queries = useQueryClient();
  const [values, setValues] = useState<Credentials>({});
  const [attempt, setAttempt] = useState(0);
  const fields = fieldsOf(kind);
  const check = useTokenCheck(agentId, kind, withoutEmpty(values), attempt);
  const connect = useMutation({
    mutationFn: (checked: Credentials) =>
      api.put<Connection>(channelPath(agentId, kind.channel), credentialsBody(kind, checked)),
    onSuccess: () => queries.invalidateQueries({ queryKey: connectionsKey(agentId) }),
  });
  const isTaken = check.state === "found" && check.found.inUseBy !== null;
  const submit = () => {
    if (check.state === "found" && !isTaken && !connect.isPending) connect.mutate(check.credentials);
  };
  return (
    <Form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
      {fields.map(({ name, label, hint, placeholder, isSecret }) => (
        <TextField
          key={name}
          label={label}
          value={values[name] ?? ""}
          onChange={(event) => {
            setValues({ ...values, [name]: event.target.value });
            connect.reset();
          }}
          spellCheck={false}
          autoCapitalize="off"
          placeholder={placeholder}
          className={isSecret ? "font-mono" : ""}
          error={check.state === "refused" ? check.wrong[name] : undefined}
          hint={hint}
        />
      ))}
      <div role="status" className="min-h-6">
        {check.state === "checking" && (
          <Status tone="busy">{t("Asking {platform} …", { platform: kind.label })}</Status>
        )}
        {check.state === "refused" && check.unfinished && <p className="text-soft">{check.unfinished}</p>}
        {check.state === "found" && <FoundBot kind={kind} found={check.found} />}
      </div>
      {check.state === "failed" && <ErrorNote error={check.error} onRetry={() => setAttempt(attempt + 1)} />}
      {connect.error && <ErrorNote error={connect.error} />}
      <div>
        <Button look="primary" type="submit" isBusy={connect.isPending} disabled={check.state !== "found" || isTaken}>
          {check.state === "found"
            ? t("Connect {bot}", { bot: shownName(check.found) })
            : t("Connect {platform}", { platform: kind.label })}
        </Button>
      </div>
    </Form>
  );
}

function fieldsOf({ channel, credentials }: Props["kind"]): FormField[] {
  const secrecy = t(
    "It is kept encrypted and never shown again. It gives power over the bot, so give it to nobody else.",
  );
  if (!credentials) {
    return [{ name: TOKEN, label: t("Token of the bot"), hint: secrecy, placeholder: undefined, isSecret: true }];
  }
  const lastSecret = credentials.findLast(({ isSecret }) => isSecret)?.name;
  return credentials.map(({ name, label, isSecret, isOptional, example }) => {
    const texts = fieldTexts(channel, name);
    const known = texts ? t(texts.label) : label;
    return {
      name,
      label: isOptional ? t("{field} (optional)", { field: known }) : known,
      hint: texts?.hint ? t(texts.hint) : name === lastSecret ? secrecy : undefined,
      placeholder: example ?? undefined,
      isSecret,
    };
  });
}

const withoutEmpty = (values: Credentials): Credentials =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value.trim() === "" ? [] : [[name, value.trim()]])),
  );

const shownName = ({ bot: { name, username } }: CheckedToken) => name ?? username;

function FoundBot({ kind, found }: { kind: Props["kind"]; found: CheckedToken }) {
  const { bot, inUseBy } = found;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center gap-3 rounded-large border border-good bg-good-wash px-3 py-2">
        <Letter name={shownName(found)} />
        <div className="min-w-0 flex-1">
          <p className="font-semibold">
            <bdi>{shownName(found)}</bdi>
          </p>
          <p className="text-soft text-sm">{bot.username.startsWith("+") ? bot.username : `@${bot.username}`}</p>
        </div>
        <Status tone="good">{t("{platform} knows it", { platform: kind.label })}</Status>
      </div>
      {inUseBy && (
        <Notice tone="warn">
          <p>
            {inUseBy.agentId === null
              ? t("This bot already serves an agent of somebody else here. Use another bot.")
              : rich(
                  "This bot already serves your agent <a>{name}</a>. Disconnect it there first, or make another bot.",
                  {
                    a: (words, key) => (
                      <Link
                        key={key}
                        className="underline"
                        href={`/agents/${inUseBy.agentId}/channels/${kind.channel}`}
                      >
                        {words}
                      </Link>
                    ),
                  },
                  { name: inUseBy.name ?? "" },
                )}
          </p>
        </Notice>
      )}
    </div>
  );
}
