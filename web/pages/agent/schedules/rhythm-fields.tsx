// The choice of times: a rhythm, and the fields that it needs.

import { Field, SelectField, TextField } from "../../../parts/forms/field.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { dayName, type Rhythm, type Timing } from "./timing.ts";

const RHYTHMS: readonly { value: Rhythm; label: Text }[] = [
  { value: "daily", label: text("Every day") },
  { value: "weekdays", label: text("Every weekday, Monday to Friday") },
  { value: "weekly", label: text("On some days of the week") },
  { value: "monthly", label: text("Once a month") },
  { value: "hours", label: text("Every few hours") },
  { value: "minutes", label: text("Every few minutes") },
  { value: "once", label: text("Once") },
  { value: "cron", label: text("By a cron text, for experts") },
];
/** Steps that divide an hour and a day, so that the distances stay even. */
const MINUTES = [1, 2, 5, 10, 15, 20, 30];
const HOURS = [1, 2, 3, 4, 6, 8, 12];
/** Monday first. */
const WEEK = [1, 2, 3, 4, 5, 6, 0];
const HAS_TIME: readonly Rhythm[] = ["daily", "weekdays", "weekly", "monthly"];

interface Props {
  timing: Timing;
  onChange: (timing: Timing) => void;
  /** What the server says about the cron text or the moment. */
  error: string | undefined;
}

export function RhythmFields({ timing, onChange, error }: Props) {
  const { rhythm } = timing;
  const change = (part: Partial<Timing>) => onChange({ ...timing, ...part });
  const steps = rhythm === "minutes" ? MINUTES : HOURS;
  return (
    <div className="grid grid-cols-1 items-start gap-3 sm:grid-cols-2">
      <SelectField
        label={t("How often")}
        value={rhythm}
        onChange={({ target }) => {
          const next = RHYTHMS.find(({ value }) => value === target.value)?.value ?? "daily";
          change({ rhythm: next, ...(next === "hours" && { every: "2" }), ...(next === "minutes" && { every: "30" }) });
        }}
      >
        {RHYTHMS.map(({ value, label }) => (
          <option key={value} value={value}>
            {t(label)}
          </option>
        ))}
      </SelectField>
      {HAS_TIME.includes(rhythm) && (
        <TextField
          label={t("At")}
          type="time"
          required
          value={timing.time}
          onChange={({ target }) => change({ time: target.value })}
        />
      )}
      {rhythm === "weekly" && <Weekdays days={timing.days} onChange={(days) => change({ days })} />}
      {rhythm === "monthly" && (
        <SelectField
          label={t("On day")}
          value={timing.dayOfMonth}
          onChange={({ target }) => change({ dayOfMonth: target.value })}
          hint={Number(timing.dayOfMonth) > 28 ? t("Months without this day are left out.") : undefined}
        >
          {Array.from({ length: 31 }, (_, index) => String(index + 1)).map((day) => (
            <option key={day}>{day}</option>
          ))}
        </SelectField>
      )}
      {(rhythm === "minutes" || rhythm === "hours") && (
        <SelectField
          label={rhythm === "minutes" ? t("Minutes between two runs") : t("Hours between two runs")}
          value={timing.every}
          onChange={({ target }) => change({ every: target.value })}
        >
          {steps.map((step) => (
            <option key={step}>{step}</option>
          ))}
        </SelectField>
      )}
      {rhythm === "once" && (
        <TextField
          label={t("When")}
          type="datetime-local"
          required
          value={timing.moment}
          error={error}
          onChange={({ target }) => change({ moment: target.value })}
        />
      )}
      {rhythm === "cron" && (
        <TextField
          label={t("Cron text")}
          className="font-mono"
          value={timing.cron}
          error={error}
          maxLength={200}
          hint={t("Minute, hour, day, month, weekday: 0 9 * * MON-FRI. Or a name such as @daily.")}
          onChange={({ target }) => change({ cron: target.value })}
        />
      )}
    </div>
  );
}

function Weekdays({ days, onChange }: { days: readonly number[]; onChange: (days: readonly number[]) => void }) {
  return (
    <div className="sm:col-span-2">
      <Field label={t("On")} error={days.length === 0 ? t("Choose a day.") : undefined}>
        {({ id, ...control }) => (
          <div
            id={id}
            role="group"
            aria-label={t("On")}
            aria-describedby={control["aria-describedby"]}
            className="flex flex-wrap gap-1.5"
          >
            {WEEK.map((day) => (
              <label
                key={day}
                className="rounded-round border border-line px-2.5 py-1 has-checked:border-sea has-checked:bg-wash has-checked:font-medium has-checked:text-sea has-focus-visible:outline-2 has-focus-visible:outline-sea"
              >
                <input
                  type="checkbox"
                  className="sr-only"
                  checked={days.includes(day)}
                  onChange={({ target }) =>
                    onChange(target.checked ? [...days, day] : days.filter((one) => one !== day))
                  }
                />
                <span aria-hidden="true">{dayName(day, "short")}</span>
                <span className="sr-only">{dayName(day, "long")}</span>
              </label>
            ))}
          </div>
        )}
      </Field>
    </div>
  );
}
