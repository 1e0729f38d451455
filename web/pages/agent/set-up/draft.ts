// The changes of somebody who edits an agent, kept in the tab until they are saved, and what they were made from.

import { useEffect, useState } from "react";
import { type Config, isEqual, mergeChanges, withKey } from "../config/config-changes.ts";

/** What can be edited here: the choice of the model, and the configuration. */
export interface SetUp {
  choice: string;
  config: Config;
}

/** What is stored on the server. */
export interface Stored extends SetUp {
  version: number;
}

interface Draft extends SetUp {
  from: Stored;
}

const storedAs = (id: string) => `berth-set-up-${id}`;

function readDraft(id: string): Draft | undefined {
  try {
    const text = sessionStorage.getItem(storedAs(id));
    return text === null ? undefined : (JSON.parse(text) as Draft);
  } catch {
    return undefined;
  }
}

const isSame = (one: SetUp, other: SetUp) => one.choice === other.choice && isEqual(one.config, other.config);

export interface DraftState {
  /** What the form shows. */
  current: SetUp;
  isDirty: boolean;
  /** What the changes were made from. */
  from: Stored;
  /** Somebody else has saved other values since. */
  hasConflict: boolean;
  /** The changes of both, if they concern different keys. */
  merged: SetUp | undefined;
  change: (next: SetUp) => void;
  /** Changes one key at the first level; `undefined` removes it. */
  setKey: (key: string, value: unknown) => void;
  discard: () => void;
  /** After a save of what was `sent`: changes made since then stay, and are based on what is stored now. */
  settle: (sent: SetUp, stored: Stored) => void;
}

export function useDraft(id: string, stored: Stored): DraftState {
  const [draft, setDraft] = useState(() => readDraft(id));
  const kept = draft && !isSame(draft, stored) ? draft : undefined;
  const current = kept ?? stored;
  const from = kept?.from ?? stored;

  useEffect(() => {
    if (kept) sessionStorage.setItem(storedAs(id), JSON.stringify(kept));
    else sessionStorage.removeItem(storedAs(id));
  }, [id, kept]);

  useEffect(() => {
    if (!kept) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [kept]);

  const change = (next: SetUp) => setDraft({ ...next, from });
  const config = kept && mergeChanges(from.config, kept.config, stored.config);
  return {
    current,
    isDirty: kept !== undefined,
    from,
    hasConflict: kept !== undefined && from.version !== stored.version,
    merged: config && { choice: current.choice, config },
    change,
    setKey: (key, value) => change({ choice: current.choice, config: withKey(current.config, key, value) }),
    discard: () => setDraft(undefined),
    settle: (sent, saved) =>
      setDraft((before) => (before && !isSame(before, sent) ? { ...before, from: saved } : undefined)),
  };
}
