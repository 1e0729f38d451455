// Short messages at the edge of the page, with a way to undo. They wait while the pointer or the focus is on them.

import { X } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { t } from "../viewer/language.ts";
import { isShortcut, shortcut } from "../viewer/shortcut.ts";
import { IconButton } from "./icon-button.tsx";

interface Toast {
  id: number;
  message: string;
  kind: "info" | "error";
  action?: { label: string; run: () => void };
  /** Called when it disappears without its action. */
  onExpire?: () => void;
}

const SHOWN_MS = 6_000;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const notify of listeners) notify();
}

function add(toast: Omit<Toast, "id">): number {
  lastId += 1;
  change([...toasts, { ...toast, id: lastId }].slice(-4));
  return lastId;
}

const remove = (id: number) => change(toasts.filter((toast) => toast.id !== id));

/** Tells that something is done. */
export const showToast = (message: string, action?: Toast["action"]): void =>
  void add({ message, kind: "info", ...(action && { action }) });

/** Tells that something failed. */
export const showError = (message: string): void => void add({ message, kind: "error" });

const pending = new Map<number, () => void>();

/**
 * Does something that can't be taken back, after the time in which the person may undo it. Leaving the page does it at
 * once. `hide` changes what is shown now; it returns the function that shows it again.
 *
 * @example withUndo(t("Fact forgotten"), () => hideRow(id), () => api.delete(path`/api/…/${id}`))
 */
export function withUndo(message: string, hide: () => () => void, commit: () => Promise<unknown>): void {
  const show = hide();
  const run = () => {
    pending.delete(id);
    void commit().catch((error: unknown) => {
      show();
      showError(error instanceof Error ? error.message : String(error));
    });
  };
  const undo = () => {
    pending.delete(id);
    show();
  };
  const id = add({ message, kind: "info", action: { label: t("Undo"), run: undo }, onExpire: run });
  pending.set(id, run);
}

addEventListener("pagehide", () => {
  for (const run of [...pending.values()]) run();
});

const subscribe = (notify: () => void) => {
  listeners.add(notify);
  return () => void listeners.delete(notify);
};

/** What the last message offers, for those who would have to go through the whole page with Tab to its button. */
function actByKey(event: KeyboardEvent): void {
  const isTyping =
    event.target instanceof Element &&
    event.target.closest("input:not([type=checkbox], [type=radio]), textarea") !== null;
  const last = toasts.findLast(({ action }) => action);
  if (!last || isTyping || !isShortcut(event, "Z")) return;
  event.preventDefault();
  act(last);
}

function act(toast: Toast): void {
  toast.action?.run();
  remove(toast.id);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  useEffect(() => {
    addEventListener("keydown", actByKey);
    return () => removeEventListener("keydown", actByKey);
  }, []);
  return (
    <section
      aria-label={t("Messages")}
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 z-50 flex max-w-[calc(100vw-2rem)] flex-col items-end gap-2"
    >
      {shown.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => expire(toast), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld, toast]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only waits while the pointer or the focus is on it
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className={`pointer-events-auto flex items-center gap-2 rounded-large border bg-raised py-1 pr-1 pl-3 shadow-raised ${toast.kind === "error" ? "border-bad" : "border-edge"}`}
    >
      <p className={toast.kind === "error" ? "text-bad" : ""}>{toast.message}</p>
      {toast.action && (
        <button
          type="button"
          className="rounded-round px-2 py-1 font-medium text-sea hover:bg-hover"
          title={shortcut("Z")}
          aria-keyshortcuts="Meta+Z Control+Z"
          onClick={() => act(toast)}
        >
          {toast.action.label}
        </button>
      )}
      <IconButton label={t("Close")} onClick={() => expire(toast)}>
        <X />
      </IconButton>
    </div>
  );
}

function expire(toast: Toast): void {
  if (!toasts.includes(toast)) return;
  remove(toast.id);
  toast.onExpire?.();
}
