// How an agent writes: how freely, how long, and in which time zone it lives.

import { useId } from "react";
import { Button } from "../../../parts/button.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { formatNumber, t } from "../../../viewer/language.ts";
import { viewerZone } from "../../../viewer/time-zone.ts";
import type { FieldProps } from "./field-props.ts";

const MAX_TEMPERATURE = 2;

export function Style({ config, setKey, noteAt }: FieldProps) {
  const zonesId = useId();
  const { maxTokens, topP, timezone } = config;
  return (
    <Section
      title={t("Style")}
      hint={t("Leave these empty if you are not sure: the model's own values are good ones.")}
    >
      <Temperature {...{ config, setKey, noteAt }} />
      <div className="mt-5 grid gap-4 sm:grid-cols-3">
        <NumberField
          label={t("Longest answer")}
          hint={t("In tokens; 100 tokens are about 75 words.")}
          min={1}
          step={1}
          value={maxTokens}
          error={noteAt("maxTokens")}
          onChange={(value) => setKey("maxTokens", value)}
        />
        <NumberField
          label={t("Choice of words (top P)")}
          hint={t("0 to 1. Change this or the freedom above, not both.")}
          min={0}
          max={1}
          step={0.05}
          value={topP}
          error={noteAt("topP")}
          onChange={(value) => setKey("topP", value)}
        />
        <div>
          <TextField
            label={t("Time zone")}
            hint={t("For the clock and reminders.")}
            list={zonesId}
            placeholder={viewerZone}
            value={typeof timezone === "string" ? timezone : ""}
            error={noteAt("timezone")}
            onChange={({ target }) => setKey("timezone", target.value || undefined)}
          />
          <datalist id={zonesId}>
            {Intl.supportedValuesOf("timeZone").map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </div>
      </div>
    </Section>
  );
}

function Temperature({ config, setKey, noteAt }: FieldProps) {
  const id = useId();
  const value = typeof config.temperature === "number" ? config.temperature : undefined;
  const note = noteAt("temperature");
  return (
    <div className="max-w-xl">
      <div className="flex items-baseline justify-between gap-3">
        <label htmlFor={id} className="font-medium">
          {t("Freedom (temperature)")}
        </label>
        <output htmlFor={id} className="text-soft">
          {value === undefined ? t("the model's own") : `${formatNumber(value)} · ${freedomWords(value)}`}
        </output>
      </div>
      <div className="flex items-center gap-3">
        <input
          id={id}
          type="range"
          min={0}
          max={MAX_TEMPERATURE}
          step={0.1}
          value={value ?? 1}
          aria-valuetext={value === undefined ? t("the model's own") : `${value}, ${freedomWords(value)}`}
          aria-describedby={note && `${id}-note`}
          onChange={({ target }) => setKey("temperature", Number(target.value))}
          className={`h-8 min-w-0 flex-1 accent-fill ${value === undefined ? "opacity-60" : ""}`}
        />
        <Button look="bare" disabled={value === undefined} onClick={() => setKey("temperature", undefined)}>
          {t("Reset")}
        </Button>
      </div>
      <div className="flex justify-between text-soft text-sm" aria-hidden="true">
        <span>{t("exact")}</span>
        <span>{t("imaginative")}</span>
      </div>
      {note && (
        <p id={`${id}-note`} role="alert" className="text-bad text-sm">
          {note}
        </p>
      )}
    </div>
  );
}

function freedomWords(value: number): string {
  if (value <= 0.3) return t("exact, much the same each time");
  if (value <= 0.8) return t("balanced");
  return value <= 1.2 ? t("lively") : t("surprising, at times off the point");
}

interface NumberProps {
  label: string;
  hint: string;
  min: number;
  max?: number;
  step: number;
  value: unknown;
  error: string | undefined;
  onChange: (value: number | undefined) => void;
}

/** A number that may be empty. */
export const NumberField = ({ value, onChange, ...rest }: NumberProps) => (
  <TextField
    {...rest}
    type="number"
    inputMode="decimal"
    value={typeof value === "number" ? value : ""}
    onChange={({ target }) => onChange(target.value === "" ? undefined : Number(target.value))}
  />
);
