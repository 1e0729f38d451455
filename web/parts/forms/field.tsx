// Form fields: label, control, hint and error belong together for eyes and screen readers.

import { type ComponentProps, type ReactNode, useId } from "react";
import { useComplaint } from "./form.tsx";

export const CONTROL =
  "min-h-9 w-full text-ellipsis rounded-round border border-line bg-card px-2.5 py-1.5 text-ink placeholder:text-soft disabled:opacity-60 aria-[invalid=true]:border-bad";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** Hides the label from eyes, where the place says what it is. */
  isLabelHidden?: boolean | undefined;
  /** Further classes of the control. */
  className?: string | undefined;
  children: (control: ControlProps) => ReactNode;
}

/** What a control needs to look like one, and to be connected to its label, hint and error. */
export interface ControlProps {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
  className: string;
}

export function Field({ label, hint, error: refusal, isLabelHidden = false, className = "", children }: FieldProps) {
  const id = useId();
  const error = useComplaint(id) ?? refusal;
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className={isLabelHidden ? "sr-only" : "font-medium"}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": describedBy,
        "aria-invalid": error ? true : undefined,
        className: `${CONTROL} ${className}`,
      })}
      {error && (
        <p id={`${id}-error`} className="text-bad text-sm" role="alert">
          {error}
        </p>
      )}
      {hint && (
        <div id={`${id}-hint`} className="text-soft text-sm">
          {hint}
        </div>
      )}
    </div>
  );
}

type Props<Tag extends "input" | "textarea" | "select"> = Omit<FieldProps, "children"> & ComponentProps<Tag>;

export const TextField = ({ label, hint, error, isLabelHidden, className, ...rest }: Props<"input">) => (
  <Field {...{ label, hint, error, isLabelHidden, className }}>
    {(control) => <input type="text" autoComplete="off" {...rest} {...control} />}
  </Field>
);

export const TextAreaField = ({ label, hint, error, isLabelHidden, className, ...rest }: Props<"textarea">) => (
  <Field {...{ label, hint, error, isLabelHidden, className }}>
    {(control) => <textarea rows={4} {...rest} {...control} />}
  </Field>
);

export const SelectField = ({ label, hint, error, isLabelHidden, className, ...rest }: Props<"select">) => (
  <Field {...{ label, hint, error, isLabelHidden, className }}>{(control) => <select {...rest} {...control} />}</Field>
);

interface CheckProps extends Omit<ComponentProps<"input">, "type"> {
  label: string;
  hint?: ReactNode;
}

/** A checkbox with its label. */
export const CheckField = ({ label, hint, ...rest }: CheckProps) => {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        id={id}
        type="checkbox"
        aria-describedby={hint ? `${id}-hint` : undefined}
        {...rest}
        className="mt-1 size-4 shrink-0 accent-fill"
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <div id={`${id}-hint`} className="text-soft text-sm">
            {hint}
          </div>
        )}
      </div>
    </div>
  );
};

interface SwitchProps {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  isLabelHidden?: boolean;
  disabled?: boolean;
}

/** On or off, with effect at once. */
export function Switch({ label, isOn, onChange, isLabelHidden = false, disabled = false }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={isLabelHidden ? label : undefined}
      disabled={disabled}
      onClick={() => onChange(!isOn)}
      className="inline-flex items-center gap-2 rounded-full text-left disabled:opacity-60"
    >
      <span
        aria-hidden="true"
        className={`relative h-5 w-9 shrink-0 rounded-full border transition-colors ${isOn ? "border-fill bg-fill" : "border-line bg-well"}`}
      >
        <span
          className={`absolute top-0.5 size-3.5 rounded-full transition-[left] ${isOn ? "left-4.5 bg-white" : "left-0.5 bg-soft"}`}
        />
      </span>
      {!isLabelHidden && label}
    </button>
  );
}
