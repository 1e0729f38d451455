// A dialog on the platform's own <dialog>: it keeps the focus inside, closes with Escape and by a click beside it.

import { X } from "lucide-react";
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { t } from "../viewer/language.ts";
import { IconButton } from "./icon-button.tsx";

interface Props {
  title: string;
  onClose: () => void;
  /** Buttons at the bottom, the main one last. */
  actions?: ReactNode;
  width?: "narrow" | "wide";
  children: ReactNode;
}

const FIELD = "form :is(input, select, textarea):not([type=radio]:not(:checked))";
const WIDTHS = { narrow: "w-[28rem]", wide: "w-[48rem]" };

/** Render it while it is open; unmounting closes it. */
export function Dialog({ title, onClose, actions, width = "narrow", children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A layout effect is undone while the dialog is still in the page: only then it gives the focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // By itself the browser gives the focus to the first button, which closes.
    const first = dialog?.querySelector<HTMLElement>("[data-autofocus]") ?? dialog?.querySelector<HTMLElement>(FIELD);
    first?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
      className={`m-auto max-h-[min(44rem,calc(100dvh-2rem))] flex-col overflow-hidden open:flex max-w-[calc(100vw-2rem)] rounded-large border border-edge bg-raised p-0 text-ink shadow-raised backdrop:bg-[#06141a99] ${WIDTHS[width]}`}
    >
      <header className="flex items-center gap-2 border-edge border-b py-2 pr-2 pl-4">
        <h2 id={titleId} className="flex-1 font-semibold text-md">
          {title}
        </h2>
        <IconButton label={t("Close")} onClick={onClose}>
          <X />
        </IconButton>
      </header>
      {/* Positioned, so that what is hidden from sight in it scrolls with it. */}
      <div className="relative min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
      {actions && (
        <footer className="flex flex-wrap justify-end gap-2 border-edge border-t px-4 py-3">{actions}</footer>
      )}
    </dialog>
  );
}
