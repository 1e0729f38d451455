// A form that judges its fields itself: what is wrong stands at the field, in the language of the console, and the first
// wrong field gets the focus. A browser would say it in a bubble, in its own language.

import { type ComponentProps, createContext, useContext, useEffect, useRef, useState } from "react";
import { formatNumber, t } from "../../viewer/language.ts";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
/** By the id of the control. */
type Complaints = Readonly<Record<string, string>>;

const FormComplaints = createContext<Complaints>({});

/** What is wrong with the control of this id; undefined until the form is sent, and while it is right. */
export const useComplaint = (id: string): string | undefined => useContext(FormComplaints)[id];

interface Props extends Omit<ComponentProps<"form">, "onSubmit" | "noValidate" | "onInput"> {
  /** Called when every field is right. */
  onSubmit: () => void;
}

/** A control with `data-autofocus` has the focus when the form appears. */
export function Form({ onSubmit, children, ...rest }: Props) {
  const [complaints, setComplaints] = useState<Complaints>({});
  const element = useRef<HTMLFormElement>(null);
  const awaitsAnswer = useRef(false);
  // A browser minds `autofocus` once in a document, and not where a page goes on by script.
  useEffect(() => element.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus(), []);
  // After each render: the server may refuse a field, too.
  useEffect(() => {
    const wrong = awaitsAnswer.current && element.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (!wrong) return;
    awaitsAnswer.current = false;
    wrong.focus();
  });
  return (
    <form
      {...rest}
      ref={element}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const found = complaintsAbout(event.currentTarget);
        setComplaints(found);
        awaitsAnswer.current = true;
        if (Object.keys(found).length === 0) onSubmit();
      }}
      onInput={({ target }) => {
        awaitsAnswer.current = false;
        if (!isControl(target) || !(target.id in complaints)) return;
        const { [target.id]: _, ...others } = complaints;
        const complaint = complaintAbout(target);
        setComplaints(complaint === undefined ? others : { ...others, [target.id]: complaint });
      }}
    >
      <FormComplaints value={complaints}>{children}</FormComplaints>
    </form>
  );
}

const isControl = (element: unknown): element is Control =>
  element instanceof HTMLInputElement || element instanceof HTMLSelectElement || element instanceof HTMLTextAreaElement;

function complaintsAbout({ elements }: HTMLFormElement): Complaints {
  const found = [...elements].filter(isControl).flatMap((control) => {
    const complaint = complaintAbout(control);
    return complaint === undefined ? [] : [[control.id, complaint] as const];
  });
  return Object.fromEntries(found);
}

/** By the rules of HTML, and that a text of spaces alone is none. A pattern's own words are in `data-pattern-words`. */
function complaintAbout(control: Control): string | undefined {
  const { validity, willValidate, required, value, type } = control;
  if (!willValidate) return undefined;
  if (validity.valueMissing || (required && value.trim() === "")) return t("Fill this in.");
  if (validity.valid) return undefined;
  const attribute = (name: string) => control.getAttribute(name) ?? "";
  if (validity.badInput) return type === "number" ? t("Write a number.") : t("Fill this in.");
  if (validity.rangeUnderflow) return t("At least {limit}.", { limit: limitIn(attribute("min")) });
  if (validity.rangeOverflow) return t("At most {limit}.", { limit: limitIn(attribute("max")) });
  if (validity.stepMismatch) return t("In steps of {step}.", { step: limitIn(attribute("step") || "1") });
  if (validity.tooLong) return t("At most {limit} characters.", { limit: limitIn(attribute("maxlength")) });
  if (validity.typeMismatch && type === "email") return t("This is no email address, such as name@example.com.");
  if (validity.typeMismatch) return t("This is no whole address. It begins with https://");
  return attribute("data-pattern-words") || t("This has not the right form.");
}

const limitIn = (text: string): string => formatNumber(Number(text));
