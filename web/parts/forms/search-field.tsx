// A search box; the search begins when typing pauses, and is part of the address.

import { Search } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { CONTROL } from "./field.tsx";

interface Props {
  label: string;
  value: string;
  /** Called when typing pauses. */
  onSearch: (value: string) => void;
}

export function SearchField({ label, value, onSearch }: Props) {
  const [typed, setTyped] = useState(value);
  const search = useEffectEvent(onSearch);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => search(typed), 200);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <div className="relative">
      <Search aria-hidden="true" className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-soft" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className={`${CONTROL} pl-8`}
      />
    </div>
  );
}
