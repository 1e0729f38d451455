// A dialog with a form, or a question: Cancel, and one button that sends it.

import { type ReactNode, useId } from "react";
import { t } from "../../viewer/language.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Form } from "./form.tsx";

interface Props {
  title: string;
  width?: "narrow" | "wide";
  /** The button that sends. */
  action: string;
  look?: "primary" | "danger";
  /** The button that closes, where "Cancel" could be misread. */
  cancel?: string;
  isBusy?: boolean;
  /** Whether something that must be filled in is not. */
  isIncomplete?: boolean;
  /** Why sending failed, unless a field shows it. It is shown above the buttons, where it is always in view. */
  error?: unknown;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

export function FormDialog({ title, width = "narrow", onSubmit, onClose, children, ...rest }: Props) {
  const { action, look = "primary", cancel = t("Cancel"), isBusy = false, isIncomplete = false, error } = rest;
  const id = useId();
  return (
    <Dialog
      title={title}
      width={width}
      onClose={onClose}
      actions={
        <>
          {error ? (
            <div className="w-full">
              <ErrorNote error={error} />
            </div>
          ) : null}
          <Button onClick={onClose}>{cancel}</Button>
          <Button look={look} type="submit" form={id} isBusy={isBusy} disabled={isIncomplete}>
            {action}
          </Button>
        </>
      }
    >
      <Form
        id={id}
        className="flex flex-col gap-4"
        onSubmit={() => {
          if (!isBusy && !isIncomplete) onSubmit();
        }}
      >
        {children}
      </Form>
    </Dialog>
  );
}
