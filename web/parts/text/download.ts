// Offers a text that the page made as a file.

export function downloadText(name: string, text: string, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has taken the content once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
