// The files of which agents are made.

/** For the choice of a file. */
export const AGENT_FILES = ".json,.png,.zip,.charx";

/** The file with a type by its name: the browser may know none. The server looks at the content. */
export const toAgentFile = (file: File): Blob => new Blob([file], { type: typeOf(file) });

function typeOf({ name }: File): string {
  if (/\.png$/i.test(name)) return "image/png";
  return /\.(?:zip|charx)$/i.test(name) ? "application/zip" : "application/json";
}
