// Options with an explanation, side by side as tiles, one of them chosen.

import { type ReactNode, useId } from "react";

interface Props<V extends string> {
  label: string;
  isLabelHidden?: boolean;
  value: V;
  options: readonly { value: V; label: string; hint?: ReactNode }[];
  onChange: (value: V) => void;
}

export function Tiles<V extends string>({ label, isLabelHidden = false, value, options, onChange }: Props<V>) {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className={isLabelHidden ? "sr-only" : "mb-1 font-medium"}>{label}</legend>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,11rem),1fr))] gap-2">
        {options.map((option) => (
          <label
            key={option.value}
            className="flex flex-col rounded-round border border-line bg-card px-3 py-2 transition-colors hover:bg-hover has-checked:border-sea has-checked:bg-wash has-focus-visible:outline-2 has-focus-visible:outline-sea has-focus-visible:outline-offset-2"
          >
            <span className="flex items-center gap-2">
              <input
                type="radio"
                name={name}
                value={option.value}
                checked={option.value === value}
                onChange={() => onChange(option.value)}
                className="size-3.5 shrink-0 accent-fill outline-none"
              />
              <span className="font-medium">{option.label}</span>
            </span>
            {option.hint && <span className="pl-5.5 text-soft text-sm">{option.hint}</span>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
