// A value to read and copy on one line, such as an address; a long one breaks.

import { CopyButton } from "./copy-button.tsx";

export const CopyValue = ({ value, label }: { value: string; label: string }) => (
  <span className="inline-flex max-w-full items-center overflow-hidden rounded-round border border-edge bg-well pl-2 font-mono text-sm">
    <span className="min-w-0 break-all py-1 pr-2">{value}</span>
    <CopyButton value={value} label={label} />
  </span>
);
