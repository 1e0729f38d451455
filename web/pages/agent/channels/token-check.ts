// Asks the API, when typing pauses, whose token this is, or what is wrong with each of several credentials.

import { useEffect, useState } from "react";
import { api } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { type ChannelKind, type CheckedToken, channelPath } from "./data.ts";

/** What the API finds wrong with the form of a token, by its `problem`. */
const PROBLEMS: Readonly<Record<string, Text>> = {
  spaces: text("A token has no spaces. Copy only the token itself."),
  start: text("This does not begin like a token of {platform}. Copy the whole token, from its first character."),
  characters: text("There are characters in this that no token has. Copy it once more."),
  incomplete: text("This is not the whole token yet."),
  id: text("This is an id, not the token. The token is much longer."),
  public_key: text("This is the public key. The token is on the page Bot, under Reset Token."),
  client_secret: text("This is the client secret. The token is on the page Bot, under Reset Token."),
  other_field: text("This belongs into the other field."),
};

const TYPING_PAUSE_MS = 350;

/** The name of the only field of a channel that takes one token. */
export const TOKEN = "token";

/** Values by the names of their fields. */
export type Credentials = Readonly<Record<string, string>>;

export type Check =
  | { state: "empty" | "checking" }
  | { state: "found"; credentials: Credentials; found: CheckedToken }
  /** `wrong`: what is wrong, by field; `unfinished`: a sentence about values that only need more typing. */
  | { state: "refused"; wrong: Credentials; unfinished: string | undefined }
  | { state: "failed"; error: unknown };

type Kind = Pick<ChannelKind, "channel" | "label" | "credentials">;

/** The part of a request that holds the credentials. */
export const credentialsBody = ({ credentials }: Pick<Kind, "credentials">, values: Credentials) =>
  credentials ? { credentials: values } : { token: values[TOKEN] };

/** Without empty values. A new `attempt` asks again. */
export function useTokenCheck(agentId: string, kind: Kind, credentials: Credentials, attempt: number): Check {
  const [check, setCheck] = useState<Check>({ state: "empty" });
  const { channel } = kind;
  const key = JSON.stringify(credentials);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the values; an attempt repeats the same question
  useEffect(() => {
    if (Object.keys(credentials).length === 0) return setCheck({ state: "empty" });
    const asking = new AbortController();
    const timer = setTimeout(() => {
      setCheck({ state: "checking" });
      const body = credentialsBody(kind, credentials);
      api
        .post<CheckedToken>(channelPath(agentId, channel, "/check"), body, { signal: asking.signal })
        .then((found) => setCheck({ state: "found", credentials, found }))
        .catch((error: unknown) => {
          if (!asking.signal.aborted) setCheck(toCheck(error, kind, credentials));
        });
    }, TYPING_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [agentId, channel, key, attempt]);
  return check;
}

function toCheck(error: unknown, kind: Kind, given: Credentials): Check {
  if (!(error instanceof ApiError) || error.code !== "INVALID_CHANNEL_TOKEN") return { state: "failed", error };
  const { problem, problems } = error.body as { problem?: string; problems?: Record<string, string> };
  const codes = problems ?? (problem === undefined ? {} : { [TOKEN]: problem });
  const pathOf = (field: string) => (kind.credentials ? `credentials.${field}` : field);
  const sentences = Object.keys(given).flatMap((field) => {
    const known = PROBLEMS[codes[field] ?? ""];
    // The platform's own reason says what a token lacks.
    const sentence = known ? t(known, { platform: kind.label }) : error.issueAt(pathOf(field));
    return sentence === undefined ? [] : [{ field, sentence, isUnfinished: codes[field] === "incomplete" }];
  });
  const wrong = Object.fromEntries(
    sentences.flatMap(({ field, sentence, isUnfinished }) => (isUnfinished ? [] : [[field, sentence]])),
  );
  const unfinished = sentences.find(({ isUnfinished }) => isUnfinished)?.sentence;
  const isMissing = Object.values(codes).includes("missing");
  if (sentences.length > 0 || isMissing) return { state: "refused", wrong, unfinished };
  // It concerns all of them.
  return { state: "refused", wrong: { [Object.keys(given).at(-1) ?? TOKEN]: messageOf(error) }, unfinished };
}
