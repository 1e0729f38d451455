// Shows the document's Markdown: paragraphs, lists, code, bold words and links within the page.
import type { ReactNode } from "react";

export function Text({ children }: { children: string | undefined }) {
  if (!children) return null;
  return <div className="text">{children.split(/\n{2,}/).map(block)}</div>;
}

function block(text: string, index: number): ReactNode {
  const lines = text.trim().split("\n");
  const items = lines.filter((line) => line.startsWith("- "));
  if (items.length === 0) return <p key={index}>{inline(text)}</p>;
  const before = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith("- ")),
  );
  return (
    <div key={index}>
      {before.length > 0 && <p>{inline(before.join(" "))}</p>}
      <ul>
        {items.map((item) => (
          <li key={item}>{inline(item.slice(2))}</li>
        ))}
      </ul>
    </div>
  );
}

/** A line of text: `code`, **bold**, and [links](/docs/agents) to this server. */
export function inline(text: string): ReactNode[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)\s]+\))/).map((part, index) => {
    const key = `${index}${part}`;
    if (part.startsWith("`") && part.length > 1) return <code key={key}>{part.slice(1, -1)}</code>;
    if (part.startsWith("**")) return <strong key={key}>{part.slice(2, -2)}</strong>;
    const [, label, target] = /^\[([^\]]+)\]\((\/[^)]+)\)$/.exec(part) ?? [];
    return target ? (
      <a key={key} href={target}>
        {label}
      </a>
    ) : (
      part
    );
  });
}
