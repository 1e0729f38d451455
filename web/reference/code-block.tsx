// Shows code that scrolls by keyboard, too, with a button that copies it.
import { useState } from "react";

export function CodeBlock({ label, text }: { label: string; text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <div className="code">
      <section aria-label={label}>
        {/* What scrolls must be reachable by keyboard. */}
        <pre tabIndex={0}>
          <code>{text}</code>
        </pre>
      </section>
      <button type="button" className="copy" onClick={copy} aria-label={`Copy: ${label}`}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
