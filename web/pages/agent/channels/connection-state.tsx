// How a bot is doing, in words: that it answers, or why not, what to do about it, and when it is tried again.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError } from "../../../parts/toast.tsx";
import { Status, type Tone } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { rich, said, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type Connection, channelPath, connectionsKey } from "./data.ts";

export function ConnectionState({ connection }: { connection: Connection }) {
  const { tone, line, advice } = describe(connection);
  return (
    <div className="flex flex-col items-start gap-2" role="status">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <Status tone={tone}>{line}</Status>
        {connection.state === "connected" && (
          <span className="text-soft text-sm">
            {rich("since <time>now</time>", { time: (_, key) => <When key={key} at={connection.since} as="moment" /> })}
          </span>
        )}
      </div>
      {advice && <p className="max-w-prose text-soft text-sm">{advice}</p>}
      {connection.nextTryAt && <NextTry connection={connection} at={connection.nextTryAt} />}
    </div>
  );
}

function describe({ state, problem, label, lastError }: Connection): { tone: Tone; line: string; advice?: string } {
  const platform = { platform: label };
  if (state === "connected") return { tone: "good", line: t("Answers in {platform}", platform) };
  if (state === "connecting") return { tone: "busy", line: t("Connecting to {platform} …", platform) };
  if (problem === "agent_stopped") {
    return {
      tone: "idle",
      line: t("Rests, because the agent is stopped"),
      advice: t("Start the agent, and its bots answer again. Messages wait until then."),
    };
  }
  if (state === "failed" || problem === "refused") {
    return {
      tone: "bad",
      line: t("{platform} does not accept this bot any more", platform),
      // The reasons of platforms say what to do.
      advice: lastError ? said(lastError) : t("Connect it again with a new token."),
    };
  }
  const waits = { tone: "warn" as const, line: t("Waits for {platform}", platform) };
  if (problem === "conflict") {
    return {
      tone: "warn",
      line: t("Another program uses this bot"),
      advice: t(
        "Only one program can receive a bot's messages. Stop the other one, or give this agent a bot of its own.",
      ),
    };
  }
  if (problem === "busy")
    return { ...waits, advice: t("{platform} asked to wait a little. This goes on by itself.", platform) };
  return {
    ...waits,
    advice: lastError === null ? t("It can't be reached right now. This goes on by itself.") : said(lastError),
  };
}

/** Counts down to the next try, and tries at once on request. */
function NextTry({ connection, at }: { connection: Connection; at: string }) {
  const agent = useAgent();
  const queries = useQueryClient();
  const seconds = useSecondsUntil(at);
  const retry = useMutation({
    mutationFn: () => api.post(channelPath(agent.id, connection.channel, "/retry"), {}),
    onError: (error) => showError(messageOf(error)),
    onSettled: () => queries.invalidateQueries({ queryKey: connectionsKey(agent.id) }),
  });
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      <span aria-live="off">{seconds > 0 ? t("Next try in {seconds} s", { seconds }) : t("Trying again …")}</span>
      {connection.problem !== "busy" && (
        <Button isBusy={retry.isPending} onClick={() => retry.mutate()}>
          {t("Try now")}
        </Button>
      )}
    </div>
  );
}

function useSecondsUntil(at: string): number {
  const left = () => Math.max(0, Math.ceil((Date.parse(at) - Date.now()) / 1_000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const count = () => setSeconds(Math.max(0, Math.ceil((Date.parse(at) - Date.now()) / 1_000)));
    count();
    const timer = setInterval(count, 1_000);
    return () => clearInterval(timer);
  }, [at]);
  return seconds;
}
