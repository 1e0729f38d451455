// A menu of actions, on Base UI's Menu: `Menu.Root` and `Menu.Trigger` are its own, the rest is here.

import { Menu } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";

interface PopupProps {
  align?: "start" | "center" | "end";
  side?: "top" | "bottom";
  /** Where it opens, if it has no trigger. */
  anchor?: Element;
  children: ReactNode;
}

export const MenuPopup = ({ align = "end", side = "bottom", anchor, children }: PopupProps) => (
  // Inside of a landmark, so that screen readers don't find it beside the page.
  <Menu.Portal container={document.querySelector("main")}>
    <Menu.Positioner align={align} side={side} sideOffset={4} className="z-50" {...(anchor && { anchor })}>
      <Menu.Popup className="min-w-44 rounded-large border border-edge bg-raised p-1 text-ink shadow-raised outline-none">
        {children}
      </Menu.Popup>
    </Menu.Positioner>
  </Menu.Portal>
);

const ITEM =
  "flex items-center gap-2 rounded-round px-2 py-1.5 outline-none select-none data-[highlighted]:bg-hover data-[disabled]:opacity-60 [&_svg]:size-4";

export const MenuItem = ({ isDanger, ...rest }: ComponentProps<typeof Menu.Item> & { isDanger?: boolean }) => (
  <Menu.Item {...rest} className={`${ITEM} ${isDanger ? "text-bad" : ""}`} />
);

export const MenuRadioItem = ({ children, ...rest }: ComponentProps<typeof Menu.RadioItem>) => (
  <Menu.RadioItem {...rest} className={`${ITEM} pl-7 relative`}>
    <Menu.RadioItemIndicator className="absolute left-2">
      <Check aria-hidden="true" />
    </Menu.RadioItemIndicator>
    {children}
  </Menu.RadioItem>
);

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Menu.GroupLabel className="px-2 pt-1.5 pb-0.5 text-soft text-xs">{children}</Menu.GroupLabel>
);

export const MenuSeparator = () => <Menu.Separator className="-mx-1 my-1 h-px bg-edge" />;
