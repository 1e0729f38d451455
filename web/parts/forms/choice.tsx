// A few options side by side, one of them chosen.

import { useId } from "react";

interface Props<V extends string> {
  label: string;
  value: V;
  options: readonly { value: V; label: string }[];
  onChange: (value: V) => void;
}

export function Choice<V extends string>({ label, value, options, onChange }: Props<V>) {
  const name = useId();
  return (
    <fieldset className="inline-flex max-w-full flex-wrap rounded-round border border-line p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="relative whitespace-nowrap rounded-[0.25rem] px-2.5 py-0.5 text-soft has-checked:bg-wash has-checked:font-medium has-checked:text-sea has-focus-visible:outline-2 has-focus-visible:outline-sea"
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="sr-only"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
