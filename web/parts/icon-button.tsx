// A button that shows only an icon; its label is read out and shown as a tooltip.

import type { ComponentProps } from "react";

interface Props extends ComponentProps<"button"> {
  label: string;
}

export const IconButton = ({
  label,
  className = "text-soft hover:bg-hover hover:text-ink",
  children,
  ...rest
}: Props) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    {...rest}
    className={`grid size-8 shrink-0 place-items-center rounded-round transition-colors disabled:opacity-50 [&_svg]:size-4 ${className}`}
  >
    {children}
  </button>
);
