// The templates of agents, in the viewer's language.

import { useQuery } from "@tanstack/react-query";
import { call } from "../api/api.ts";
import { language } from "../viewer/language.ts";

/** An item of `GET /api/templates`. */
export interface Template {
  id: string;
  name: string;
  description: string;
  config: Readonly<Record<string, unknown>>;
  /** What to do after the agent was made. */
  next: readonly { page: string; text: string }[];
}

/** The language of the console, which may differ from the browser's. */
export const IN_LANGUAGE = { "accept-language": language };

export const useTemplates = () =>
  useQuery({
    queryKey: ["templates"],
    queryFn: async () =>
      (await call<{ templates: Template[] }>("GET", "/api/templates", { headers: IN_LANGUAGE })).templates,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** In place of a template's id: without one. */
export const FROM_SCRATCH = "none";
