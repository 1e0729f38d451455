// The dialog in which a schedule is made or changed: what, when, and where the answer goes.

import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, path } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { randomKey } from "../../../api/random-key.ts";
import { SelectField, TextAreaField, TextField } from "../../../parts/forms/field.tsx";
import { FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { platformName } from "../../../parts/values/platform.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { type Conversation, useConversations } from "../conversations.ts";
import { type Deliver, type Missed, type Schedule, usePreview } from "./data.ts";
import { Preview } from "./preview.tsx";
import { RhythmFields } from "./rhythm-fields.tsx";
import { DEFAULT_TIMING, fromCron, OWN_ZONE, type Timing, timeZones, toFieldTime, toRequest } from "./timing.ts";

const MISSED: readonly { value: Missed; label: Text }[] = [
  { value: "once", label: text("Catch up once for all of them") },
  { value: "skip", label: text("Leave them out") },
  { value: "all", label: text("Catch up each of them, at most 100") },
];
const OWN = "own";
const WEBHOOK = "webhook";

interface Props {
  agentId: string;
  /** Undefined for a new one. */
  schedule: Schedule | undefined;
  onSaved: () => void;
  onClose: () => void;
}

function timingOf(schedule: Schedule | undefined): Timing {
  if (schedule === undefined) return DEFAULT_TIMING;
  if (schedule.cron !== null) return fromCron(schedule.cron);
  const moment = schedule.at === null ? "" : toFieldTime(schedule.at, schedule.timezone);
  return { ...DEFAULT_TIMING, rhythm: "once", moment };
}

const keyOf = (deliver: Deliver): string =>
  deliver === null ? OWN : "webhook" in deliver ? WEBHOOK : `${deliver.platform}:${deliver.peer}`;

export function Editor({ agentId, schedule, onSaved, onClose }: Props) {
  const [prompt, setPrompt] = useState(schedule?.prompt ?? "");
  const [name, setName] = useState(schedule?.name ?? "");
  const [timing, setTiming] = useState(() => timingOf(schedule));
  const [timezone, setTimezone] = useState(schedule?.timezone ?? OWN_ZONE);
  const [deliver, setDeliver] = useState<Deliver>(schedule?.deliver ?? null);
  const [missed, setMissed] = useState<Missed>(schedule?.missed ?? "once");
  const zonesId = useId();
  const request = toRequest(timing);
  const preview = usePreview(agentId, request, timezone);
  const address = path`/api/agents/${agentId}/schedules`;
  const save = useMutation({
    mutationFn() {
      const body = { prompt, name, ...request, timezone, deliver, missed };
      // What was not rewritten keeps its mark for content from outside.
      const { prompt: _, ...unwritten } = body;
      if (schedule === undefined) return api.post(address, body, { idempotencyKey: randomKey() });
      return api.patch(`${address}/${encodeURIComponent(schedule.id)}`, prompt === schedule.prompt ? unwritten : body);
    },
    onSuccess: onSaved,
  });
  const refused = [save.error, preview.error].find(
    (error) => error instanceof ApiError && error.code === "INVALID_SCHEDULE",
  );
  const issueAt = (field: string, words: string) =>
    refused instanceof ApiError && refused.issueAt(field) !== undefined ? words : undefined;
  const timeError =
    issueAt("cron", t("This is no cron text of five fields, or its day never comes. Example: 0 9 * * MON-FRI")) ??
    issueAt("at", t("This time is over. Choose a later one."));

  return (
    <FormDialog
      title={schedule === undefined ? t("New schedule") : t("Change the schedule")}
      width="wide"
      action={schedule === undefined ? t("Make the schedule") : t("Save")}
      isBusy={save.isPending}
      isIncomplete={request === undefined}
      onSubmit={() => save.mutate()}
      onClose={onClose}
      error={refused === save.error ? undefined : save.error}
    >
      <TextAreaField
        label={t("What should it do?")}
        rows={3}
        required
        maxLength={16_384}
        value={prompt}
        placeholder={t("Read the forecast for Vienna and tell me whether I need an umbrella.")}
        hint={t("Write it as you would say it in a chat, with all it needs to know.")}
        onChange={({ target }) => setPrompt(target.value)}
      />
      <TextField
        label={t("Name")}
        maxLength={200}
        value={name}
        placeholder={t("Taken from the task if you leave it empty")}
        onChange={({ target }) => setName(target.value)}
      />
      <RhythmFields timing={timing} onChange={setTiming} error={timeError} />
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        <div className="flex flex-col gap-4">
          <TextField
            label={t("Time zone")}
            list={zonesId}
            value={timezone}
            error={issueAt("timezone", t("There is no such time zone. Choose one of the list."))}
            hint={t("Times follow its clocks, in summer too.")}
            onChange={({ target }) => setTimezone(target.value)}
          />
          <datalist id={zonesId}>
            {timeZones().map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          <SelectField
            label={t("Times missed while Berth or the agent was stopped")}
            value={missed}
            onChange={({ target }) => setMissed(MISSED.find(({ value }) => value === target.value)?.value ?? "once")}
          >
            {MISSED.map(({ value, label }) => (
              <option key={value} value={value}>
                {t(label)}
              </option>
            ))}
          </SelectField>
        </div>
        <Preview preview={preview} timezone={timezone} isOpen={request === undefined} />
      </div>
      <DeliverField agentId={agentId} deliver={deliver} onChange={setDeliver} />
    </FormDialog>
  );
}

interface DeliverProps {
  agentId: string;
  deliver: Deliver;
  onChange: (deliver: Deliver) => void;
}

function DeliverField({ agentId, deliver, onChange }: DeliverProps) {
  const { data: conversations = [] } = useConversations(agentId);
  const key = keyOf(deliver);
  const chosen = conversations.find((one) => keyOf(one) === key);
  // A conversation in which nobody has written for long is not in the list.
  const isListed = key === OWN || key === WEBHOOK || chosen !== undefined;
  const hint =
    key === OWN
      ? t("You find the answers under Chat, in a conversation of their own.")
      : key === WEBHOOK
        ? t("Your webhooks get the event schedule.ended with the answer.")
        : chosen?.owner === false
          ? t(
              "Other people read this. There the agent does not use what it knows about you, nor tools that are yours alone.",
            )
          : undefined;
  return (
    <SelectField
      label={t("Where the answer goes")}
      value={key}
      hint={hint}
      onChange={({ target }) => {
        const found = conversations.find((one) => keyOf(one) === target.value);
        if (target.value === OWN) onChange(null);
        else if (target.value === WEBHOOK) onChange({ webhook: true });
        else if (found) onChange({ platform: found.platform, peer: found.peer });
      }}
    >
      <option value={OWN}>{t("Here, in its own conversation")}</option>
      {!isListed && <option value={key}>{key}</option>}
      {conversations.map((one) => (
        <option key={keyOf(one)} value={keyOf(one)}>
          {labelOf(one)}
        </option>
      ))}
      <option value={WEBHOOK}>{t("To your webhooks")}</option>
    </SelectField>
  );
}

function labelOf({ platform, name, group, owner }: Conversation): string {
  const values = { platform: platformName(platform), name };
  if (owner) return t("{platform}: your chat", values);
  return group ? t("{platform}: a group with {name}", values) : t("{platform}: {name}", values);
}
