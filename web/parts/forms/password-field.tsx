// A field for a password: shows it on request, tells of caps lock, and ticks the rules of a new one while it is typed.

import { Check, Circle, Eye, EyeOff } from "lucide-react";
import { type ComponentProps, type KeyboardEvent, useState } from "react";
import { t } from "../../viewer/language.ts";
import { IconButton } from "../icon-button.tsx";
import { Field } from "./field.tsx";

interface Props extends Omit<ComponentProps<"input">, "type" | "value" | "onChange"> {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  /** What a new password must fulfil. */
  rules?: readonly { label: string; isMet: boolean }[];
}

export function PasswordField({ label, value, onChange, error, rules, ...rest }: Props) {
  const [isShown, setShown] = useState(false);
  const [hasCapsLock, setCapsLock] = useState(false);
  const watch = (event: KeyboardEvent) => setCapsLock(event.getModifierState("CapsLock"));
  return (
    <Field label={label} error={error} className="pr-10" hint={rules && <Rules rules={rules} />}>
      {(control) => (
        <>
          <div className="relative">
            <input
              autoComplete="current-password"
              {...rest}
              {...control}
              type={isShown ? "text" : "password"}
              value={value}
              onChange={(event) => onChange(event.target.value)}
              onKeyDown={watch}
              onKeyUp={watch}
              onBlur={() => setCapsLock(false)}
            />
            <IconButton
              label={isShown ? t("Hide the password") : t("Show the password")}
              onClick={() => setShown(!isShown)}
              className="absolute top-0.5 right-0.5 text-soft hover:text-ink"
            >
              {isShown ? <EyeOff /> : <Eye />}
            </IconButton>
          </div>
          <p role="status" className="text-sm text-warn empty:hidden">
            {hasCapsLock && t("Caps lock is on.")}
          </p>
        </>
      )}
    </Field>
  );
}

const Rules = ({ rules }: { rules: NonNullable<Props["rules"]> }) => (
  <ul className="flex flex-wrap gap-x-4">
    {rules.map(({ label, isMet }) => (
      <li key={label} className={`inline-flex items-center gap-1 ${isMet ? "text-good" : ""}`}>
        {isMet ? (
          <Check className="size-3.5" aria-label={t("Fulfilled:")} />
        ) : (
          <Circle className="size-3" aria-hidden="true" />
        )}
        {label}
      </li>
    ))}
  </ul>
);
