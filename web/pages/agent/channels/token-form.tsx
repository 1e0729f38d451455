// Takes a bot's token: says while it is typed what is wrong with it or whose it is, and connects.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { api } from "../../../app/api.ts";
import { ApiError } from "../../../app/errors.ts";
import { rich, type Text, t, text } from "../../../app/language.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/field.tsx";
import { Form } from "../../../parts/form.tsx";
import { Notice, Status } from "../../../parts/status.tsx";
import { Letter } from "./channel-icon.tsx";
import { type ChannelKind, type CheckedToken, type Connection, channelPath, connectionsKey } from "./data.ts";

/** What the API finds wrong with the form of a token, by its `problem`. */
const PROBLEMS: Readonly<Record<string, Text>> = {
  spaces: text("A token has no spaces. Copy only the token itself."),
  start: text("This does not begin like a token of {platform}. Copy the whole token, from its first character."),
  characters: text("There are characters in this that no token has. Copy it once more."),
  incomplete: text("This is not the whole token yet."),
  id: text("This is an id, not the token. The token is much longer."),
  public_key: text("This is the public key. The token is on the page Bot, under Reset Token."),
  client_secret: text("This is the client secret. The token is on the page Bot, under Reset Token."),
};

const TYPING_PAUSE_MS = 350;

type Check =
  | { state: "empty" | "checking" }
  | { state: "found"; token: string; found: CheckedToken }
  | { state: "unfinished" | "wrong"; message: string }
  | { state: "failed"; error: unknown };

interface Props {
  agentId: string;
  kind: Pick<ChannelKind, "channel" | "label">;
}

export function TokenForm({ agentId, kind }: Props) {
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const [attempt, setAttempt] = useState(0);
  const check = useTokenCheck(agentId, kind, token.trim(), attempt);
  const connect = useMutation({
    mutationFn: (checked: string) => api.put<Connection>(channelPath(agentId, kind.channel), { token: checked }),
    onSuccess: () => queries.invalidateQueries({ queryKey: connectionsKey(agentId) }),
  });
  const isTaken = check.state === "found" && check.found.inUseBy !== null;
  const submit = () => {
    if (check.state === "found" && !isTaken && !connect.isPending) connect.mutate(check.token);
  };
  return (
    <Form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
      <TextField
        label={t("Token of the bot")}
        value={token}
        onChange={(event) => {
          setToken(event.target.value);
          connect.reset();
        }}
        spellCheck={false}
        autoCapitalize="off"
        className="font-mono"
        error={check.state === "wrong" ? check.message : undefined}
        hint={t("It is kept encrypted and never shown again. It gives power over the bot, so give it to nobody else.")}
      />
      <div role="status" className="min-h-6">
        {check.state === "checking" && (
          <Status tone="busy">{t("Asking {platform} …", { platform: kind.label })}</Status>
        )}
        {check.state === "unfinished" && <p className="text-soft">{check.message}</p>}
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

/** Asks, when typing pauses, whose token this is. A new `attempt` asks again. */
function useTokenCheck(agentId: string, kind: Props["kind"], token: string, attempt: number): Check {
  const [check, setCheck] = useState<Check>({ state: "empty" });
  const { channel, label } = kind;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an attempt repeats the same question
  useEffect(() => {
    if (token === "") return setCheck({ state: "empty" });
    const asking = new AbortController();
    const timer = setTimeout(() => {
      setCheck({ state: "checking" });
      api
        .post<CheckedToken>(channelPath(agentId, channel, "/check"), { token }, { signal: asking.signal })
        .then((found) => setCheck({ state: "found", token, found }))
        .catch((error: unknown) => {
          if (!asking.signal.aborted) setCheck(toCheck(error, label));
        });
    }, TYPING_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [agentId, channel, label, token, attempt]);
  return check;
}

function toCheck(error: unknown, platform: string): Check {
  if (!(error instanceof ApiError) || error.code !== "INVALID_CHANNEL_TOKEN") return { state: "failed", error };
  const problem = String(error.body.problem);
  const known = PROBLEMS[problem];
  if (known) return { state: problem === "incomplete" ? "unfinished" : "wrong", message: t(known, { platform }) };
  // The platform's own reason says what a token lacks.
  return { state: "wrong", message: error.issueAt("token") ?? messageOf(error) };
}
